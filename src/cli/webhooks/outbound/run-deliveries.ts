/** `rewards webhooks deliveries list|show|replay`. */

import type { WebhookDelivery } from '../../../contract/control/webhooks.ts';
import * as webhooks from '../../../contract/control/webhooks.ts';
import type { Handler } from '../../machine/context.ts';
import type { LedgerOptions } from '../../machine/setting-options.ts';
import { withControl } from '../../service/control.ts';
import { replyResult } from '../../service/control-reply.ts';
import { endpointId, eventId } from './latest.ts';
import { deliveryLine, eventText } from './view.ts';

interface ListOptions extends LedgerOptions {
  brand?: string;
  endpoint?: string;
  state?: WebhookDelivery['state'];
  limit: number;
}

export const listDeliveries: Handler<ListOptions> = (
  context,
  { brand, endpoint, state, limit, ...options },
) =>
  withControl(context, options, async ({ call }) => {
    const of = endpoint && (await endpointId(call, endpoint));
    return replyResult(
      await call(webhooks.listDeliveries, { query: { brand, endpoint: of, state, limit } }),
      {
        text: ({ deliveries: all }, style) =>
          all.length === 0
            ? style.dim('nothing was to be delivered')
            : all.map((one) => deliveryLine(one, style)).join('\n'),
      },
    );
  });

export const showDelivery: Handler<LedgerOptions & { id: string }> = (context, { id, ...options }) =>
  withControl(context, options, async ({ call }) =>
    replyResult(await call(webhooks.showDelivery, { path: { id: await eventId(call, id) } }), {
      text: eventText,
    }),
  );

export const replayDelivery: Handler<LedgerOptions & { id: string; endpoint?: string }> = (
  context,
  { id, endpoint, ...options },
) =>
  withControl(context, options, async ({ call }) =>
    replyResult(
      await call(webhooks.replayDelivery, { path: { id: await eventId(call, id) }, body: { endpoint } }),
      {
        text: ({ replayed }) =>
          replayed === 0
            ? 'no endpoint that it went to is on: rewards webhooks endpoints enable'
            : `goes to ${replayed} ${replayed === 1 ? 'endpoint' : 'endpoints'} again`,
      },
    ),
  );
