/** `rewards checkout pay|decline|expire|refund|dispute|show|list`: steers the emulated payment processor. */
import type { SessionBody, SessionWishes } from '../../client/bodies.ts';
import type { Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import { isObject } from '../service/assignments.ts';
import { mustBe, replyResult } from '../service/control-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import { sessionLine, sessionText } from './view.ts';

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
    return take(context, session, 'decline', { code: decline, webhook });
  return take(context, session, 'pay', {
    ...(arrivesLater && { later: true }),
    ...(delay !== undefined && { delay }),
    ...(decline !== undefined && { fails: decline }),
    webhook,
  });
};

export const declineCheckout: Handler<Told & { code: string }> = (context, { session, code, webhook }) =>
  take(context, session, 'decline', { code, webhook });

export const expireCheckout: Handler<Told> = (context, { session, webhook }) =>
  take(context, session, 'expire', { webhook });

export const refundCheckout: Handler<
  Told & { amount?: number; reason?: SessionWishes['refund']['reason'] }
> = (context, { session, amount, reason, webhook }) =>
  take(context, session, 'refund', {
    ...(amount !== undefined && { amount }),
    ...(reason && { reason }),
    webhook,
  });

export const disputeCheckout: Handler<Told & { reason: string }> = (context, { session, reason, webhook }) =>
  take(context, session, 'dispute', { reason, webhook });

async function take<Step extends keyof SessionWishes>(
  context: Parameters<Handler<Told>>[0],
  session: string,
  step: Step,
  wish: SessionWishes[Step],
) {
  const client = clientFor(await resolveTarget(context), context);
  const reply = await client.control.processor.step(session, step, wish);
  return replyResult(reply, { hasRightForm: isSession, text: sessionLine });
}

export const showCheckout: Handler<{ session: string }> = async (context, { session }) => {
  const { processor } = clientFor(await resolveTarget(context), context).control;
  const reply = await processor.session(session);
  mustBe(reply, isSession);
  const { id, paymentIntentId } = reply.body;
  const lists = await Promise.all(
    [id, paymentIntentId].flatMap((object) => (object === null ? [] : [processor.events({ object })])),
  );
  for (const list of lists) mustBe(list, (body) => isObject(body) && Array.isArray(body.events));
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

export const listCheckouts: Handler<{ status?: string; limit: number }> = async (context, filter) => {
  const { processor } = clientFor(await resolveTarget(context), context).control;
  const reply = await processor.sessions(filter);
  return replyResult(reply, {
    hasRightForm: (body) => isObject(body) && Array.isArray(body.sessions),
    text: ({ sessions }, style) =>
      sessions.length === 0
        ? style.dim('no checkouts yet: `rewards checkout create` begins one')
        : sessions.map((session) => sessionLine(session, style)).join('\n'),
  });
};

const isSession = (body: unknown): body is SessionBody =>
  isObject(body) && typeof body.paymentStatus === 'string';
