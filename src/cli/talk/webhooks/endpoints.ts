/** `rewards webhooks endpoints list|add|set|remove|enable|rotate-secret|recover`. */
import {
  addWebhookEndpoint,
  listWebhookEndpoints,
  recoverWebhooks,
  removeWebhookEndpoint,
  rotateWebhookSecret,
  setWebhookEndpoint,
} from '../../../contract/control/webhooks.ts';
import type { Handler } from '../../machine/context.ts';
import { usageError } from '../../machine/errors.ts';
import type { LedgerOptions } from '../../machine/setting-options.ts';
import { withControl } from '../../service/control.ts';
import { replyResult } from '../../service/control-reply.ts';
import { mapOf } from '../../setup/brand-flags.ts';
import { endpointId } from '../../webhooks/outbound/latest.ts';
import { endpointText, secretLines } from '../../webhooks/outbound/view.ts';

export const listEndpoints: Handler<LedgerOptions & { brand?: string }> = (context, { brand, ...options }) =>
  withControl(context, options, async ({ call }) =>
    replyResult(await call(listWebhookEndpoints, { query: { brand } }), {
      text: ({ endpoints: all }, style) =>
        all.length === 0
          ? style.dim('no endpoint yet: rewards webhooks endpoints add')
          : all.map((one) => endpointText(one, style)).join('\n'),
    }),
  );

export const addEndpoint: Handler<LedgerOptions & { brand?: string; url?: string; types: string }> = (
  context,
  { brand: first, url: second, types, ...options },
) => {
  // One argument is the URL.
  const url = second ?? first;
  const brand = second === undefined ? undefined : first;
  if (url === undefined)
    throw usageError(
      'The URL is missing.',
      'Say where the brand listens: rewards webhooks endpoints add [brand] <url>.',
    );
  return withControl(context, options, async ({ call }) =>
    replyResult(await call(addWebhookEndpoint, { body: { brand, url, types } }), {
      text: (added, style) => [endpointText(added, style), ...secretLines(added, style)].join('\n'),
    }),
  );
};

export const setEndpoint: Handler<LedgerOptions & { id: string; 'setting=value': string[] }> = (
  context,
  { id, 'setting=value': given, ...options },
) => {
  const settings = mapOf(given, 'enabled=off');
  return withControl(context, options, async ({ call }) =>
    replyResult(
      await call(setWebhookEndpoint, { path: { id: await endpointId(call, id) }, body: settings }),
      {
        text: endpointText,
      },
    ),
  );
};

export const enableEndpoint: Handler<LedgerOptions & { id: string }> = (context, { id, ...options }) =>
  withControl(context, options, async ({ call }) =>
    replyResult(
      await call(setWebhookEndpoint, {
        path: { id: await endpointId(call, id) },
        body: { enabled: 'on' },
      }),
      {
        text: (endpoint, style) =>
          [
            endpointText(endpoint, style),
            style.dim(`  what it missed: rewards webhooks endpoints recover ${endpoint.id} --since <time>`),
          ].join('\n'),
      },
    ),
  );

export const removeEndpoint: Handler<LedgerOptions & { id: string }> = (context, { id, ...options }) =>
  withControl(context, options, async ({ call }) =>
    replyResult(await call(removeWebhookEndpoint, { path: { id: await endpointId(call, id) } }), {
      text: ({ removed }, style) => `${removed} ${style.dim('removed')}`,
    }),
  );

export const rotateSecret: Handler<LedgerOptions & { id: string; overlap: string }> = (
  context,
  { id, overlap, ...options },
) =>
  withControl(context, options, async ({ call }) =>
    replyResult(
      await call(rotateWebhookSecret, {
        path: { id: await endpointId(call, id) },
        body: { overlap },
      }),
      {
        text: (endpoint, style) => secretLines(endpoint, style).join('\n'),
      },
    ),
  );

export const recoverEndpoint: Handler<LedgerOptions & { id: string; since: string }> = (
  context,
  { id, since, ...options },
) =>
  withControl(context, options, async ({ call }) =>
    replyResult(await call(recoverWebhooks, { path: { id: await endpointId(call, id) }, body: { since } }), {
      text: ({ recovered }) =>
        recovered === 1 ? '1 delivery is sent again' : `${recovered} deliveries are sent again`,
    }),
  );
