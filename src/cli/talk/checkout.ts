/** `rewards checkout pay|decline|expire|refund|dispute|show|list`: steers the emulated payment processor. */

import type { ControlCall, ControlReply } from '../../client/control-call.ts';
import type { BodyOf, RequestOf } from '../../contract/control/control-endpoint.ts';
import {
  type CheckoutSession,
  declineSession,
  disputeSession,
  expireSession,
  listProcessorEvents,
  listSessions,
  paySession,
  refundSession,
  showSession,
} from '../../contract/control/processor.ts';
import { sessionLine, sessionText } from '../checkout/view.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import { mustSucceed, replyResult } from '../service/control-reply.ts';
import { callFor } from '../service/target.ts';

interface Told {
  session: string;
  /** False: no endpoint hears of it. */
  webhook: boolean;
}

export const payCheckout: Handler<Told & { async?: boolean; delay?: string; decline?: string }> = (
  context,
  { session, webhook, async: later = false, delay, decline },
) => {
  if (decline === '') throw usageError('--decline takes a code.', 'Leave the code out for generic_decline.');
  const arrivesLater = later || delay !== undefined;
  if (decline !== undefined && !arrivesLater)
    return take(context, session, declineSession, { code: decline, webhook });
  return take(context, session, paySession, {
    ...(arrivesLater && { later: true }),
    ...(delay !== undefined && { delay }),
    ...(decline !== undefined && { fails: decline }),
    webhook,
  });
};

export const declineCheckout: Handler<Told & { code: string }> = (context, { session, code, webhook }) =>
  take(context, session, declineSession, { code, webhook });

export const expireCheckout: Handler<Told> = (context, { session, webhook }) =>
  take(context, session, expireSession, { webhook });

export const refundCheckout: Handler<
  Told & { amount?: number; reason?: 'duplicate' | 'fraudulent' | 'requested_by_customer' }
> = (context, { session, amount, reason, webhook }) =>
  take(context, session, refundSession, {
    ...(amount !== undefined && { amount }),
    ...(reason && { reason }),
    webhook,
  });

export const disputeCheckout: Handler<Told & { reason: string }> = (context, { session, reason, webhook }) =>
  take(context, session, disputeSession, { reason, webhook });

/** What happens to a session, and what is told of it. */
async function take<E extends SessionStep>(
  context: CommandContext,
  session: string,
  step: E,
  body: BodyOf<E>,
) {
  const call: ControlCall<SessionStep> = await callFor(context);
  const reply = await call(step, { path: { session }, body } as RequestOf<E>);
  return replyResult(reply as ControlReply<CheckoutSession>, { text: sessionLine });
}
type SessionStep =
  | typeof paySession
  | typeof declineSession
  | typeof expireSession
  | typeof refundSession
  | typeof disputeSession;

export const showCheckout: Handler<{ session: string }> = async (context, { session }) => {
  const call = await callFor(context);
  const reply = await call(showSession, { path: { session } });
  mustSucceed(reply);
  const { id, paymentIntentId } = reply.body;
  const lists = await Promise.all(
    [id, paymentIntentId].flatMap((object) =>
      object === null ? [] : [call(listProcessorEvents, { query: { object } })],
    ),
  );
  for (const list of lists) mustSucceed(list);
  const events = lists
    .flatMap(({ body }) => body.events)
    .sort((one, other) => one.createdAt.localeCompare(other.createdAt));
  return {
    ok: true,
    data: { status: reply.status, headers: reply.headers, body: { ...reply.body, events } },
    env: reply.body,
    text: (style) => sessionText(reply.body, events, style),
  };
};

export const listCheckouts: Handler<{ status?: 'open' | 'complete' | 'expired'; limit: number }> = async (
  context,
  filter,
) => {
  const call = await callFor(context);
  const reply = await call(listSessions, { query: filter });
  return replyResult(reply, {
    text: ({ sessions }, style) =>
      sessions.length === 0
        ? style.dim('no checkouts yet: `rewards checkout create` begins one')
        : sessions.map((session) => sessionLine(session, style)).join('\n'),
  });
};
