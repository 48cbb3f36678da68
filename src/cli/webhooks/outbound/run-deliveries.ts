/** `rewards webhooks deliveries list|show|replay`. */
import type { Handler } from '../../machine/context.ts';
import { isObject } from '../../service/assignments.ts';
import { replyResult } from '../../service/control-reply.ts';
import type { LedgerOptions } from '../../start/options.ts';
import { endpointId, eventId } from './latest.ts';
import { withWebhooks } from './target.ts';
import { deliveryLine, eventText } from './view.ts';

interface ListOptions extends LedgerOptions {
  brand?: string;
  endpoint?: string;
  state?: string;
  limit: number;
}

export const listDeliveries: Handler<ListOptions> = (
  context,
  { brand, endpoint, state, limit, ...options },
) =>
  withWebhooks(context, options, async (webhooks) => {
    const of = endpoint && (await endpointId(webhooks, endpoint));
    return replyResult(await webhooks.deliveries.list({ brand, endpoint: of, state, limit }), {
      hasRightForm: (body) => isObject(body) && Array.isArray(body.deliveries),
      text: ({ deliveries: all }, style) =>
        all.length === 0
          ? style.dim('nothing was to be delivered')
          : all.map((one) => deliveryLine(one, style)).join('\n'),
    });
  });

export const showDelivery: Handler<LedgerOptions & { id: string }> = (context, { id, ...options }) =>
  withWebhooks(context, options, async (webhooks) =>
    replyResult(await webhooks.deliveries.show(await eventId(webhooks, id)), {
      hasRightForm: (body) => isObject(body) && Array.isArray(body.deliveries),
      text: eventText,
    }),
  );

export const replayDelivery: Handler<LedgerOptions & { id: string; endpoint?: string }> = (
  context,
  { id, endpoint, ...options },
) =>
  withWebhooks(context, options, async (webhooks) =>
    replyResult(await webhooks.deliveries.replay(await eventId(webhooks, id), { endpoint }), {
      hasRightForm: (body) => isObject(body) && typeof body.replayed === 'number',
      text: ({ replayed }) =>
        replayed === 0
          ? 'no endpoint that it went to is on: rewards webhooks endpoints enable'
          : `goes to ${replayed} ${replayed === 1 ? 'endpoint' : 'endpoints'} again`,
    }),
  );
