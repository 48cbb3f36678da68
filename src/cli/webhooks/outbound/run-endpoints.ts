/** `rewards webhooks endpoints list|add|set|remove|enable|rotate-secret|recover`. */
import { mapOf } from '../../brand/setting-flags.ts';
import type { Handler } from '../../machine/context.ts';
import { usageError } from '../../machine/errors.ts';
import { isObject } from '../../service/assignments.ts';
import { replyResult } from '../../service/control-reply.ts';
import type { LedgerOptions } from '../../start/options.ts';
import { endpointId } from './latest.ts';
import { withWebhooks } from './target.ts';
import { endpointText, secretLines } from './view.ts';

const isEndpoint = (body: unknown) => isObject(body) && typeof body.url === 'string';

export const listEndpoints: Handler<LedgerOptions & { brand?: string }> = (context, { brand, ...options }) =>
  withWebhooks(context, options, async ({ endpoints }) =>
    replyResult(await endpoints.list({ brand }), {
      hasRightForm: (body) => isObject(body) && Array.isArray(body.endpoints),
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
  return withWebhooks(context, options, async ({ endpoints }) =>
    replyResult(await endpoints.add({ brand, url, types }), {
      hasRightForm: isEndpoint,
      text: (added, style) => [endpointText(added, style), ...secretLines(added, style)].join('\n'),
    }),
  );
};

export const setEndpoint: Handler<LedgerOptions & { id: string; 'setting=value': string[] }> = (
  context,
  { id, 'setting=value': given, ...options },
) => {
  const settings = mapOf(given, 'enabled=off');
  return withWebhooks(context, options, async (webhooks) =>
    replyResult(await webhooks.endpoints.set(await endpointId(webhooks, id), settings), {
      hasRightForm: isEndpoint,
      text: endpointText,
    }),
  );
};

export const enableEndpoint: Handler<LedgerOptions & { id: string }> = (context, { id, ...options }) =>
  withWebhooks(context, options, async (webhooks) =>
    replyResult(await webhooks.endpoints.set(await endpointId(webhooks, id), { enabled: 'on' }), {
      hasRightForm: isEndpoint,
      text: (endpoint, style) =>
        [
          endpointText(endpoint, style),
          style.dim(`  what it missed: rewards webhooks endpoints recover ${endpoint.id} --since <time>`),
        ].join('\n'),
    }),
  );

export const removeEndpoint: Handler<LedgerOptions & { id: string }> = (context, { id, ...options }) =>
  withWebhooks(context, options, async (webhooks) =>
    replyResult(await webhooks.endpoints.remove(await endpointId(webhooks, id)), {
      hasRightForm: (body) => isObject(body) && typeof body.removed === 'string',
      text: ({ removed }, style) => `${removed} ${style.dim('removed')}`,
    }),
  );

export const rotateSecret: Handler<LedgerOptions & { id: string; overlap: string }> = (
  context,
  { id, overlap, ...options },
) =>
  withWebhooks(context, options, async (webhooks) =>
    replyResult(await webhooks.endpoints.rotateSecret(await endpointId(webhooks, id), overlap), {
      hasRightForm: isEndpoint,
      text: (endpoint, style) => secretLines(endpoint, style).join('\n'),
    }),
  );

export const recoverEndpoint: Handler<LedgerOptions & { id: string; since: string }> = (
  context,
  { id, since, ...options },
) =>
  withWebhooks(context, options, async (webhooks) =>
    replyResult(await webhooks.endpoints.recover(await endpointId(webhooks, id), since), {
      hasRightForm: (body) => isObject(body) && typeof body.recovered === 'number',
      text: ({ recovered }) =>
        recovered === 1 ? '1 delivery is sent again' : `${recovered} deliveries are sent again`,
    }),
  );
