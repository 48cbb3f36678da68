/** Callers of the service: they send events, lose answers, and ask again. */
import {
  createAnswerOnce,
  type Effect,
  type KeyedAnswer,
  type KeyRefusal,
  type TriedAnswer,
} from '../../../../src/actions/answer-once.ts';
import { type EventOutcome, rewardEvent } from '../../../../src/actions/events/reward-event.ts';
import type { EventSubmission } from '../../../../src/rules/events/submission.ts';
import { ESCROW, USERS } from '../model/accounts.ts';
import { expected, type Replica, textOf } from '../replica.ts';
import { BRANDS, RULES } from '../sim-ledger.ts';
import type { World } from '../world.ts';

/** One request and what came of it; 'unknown': no answer, or an error that leaves it open. */
export interface Request {
  replica: Replica;
  submission: EventSubmission;
  startedMs: number;
  /** It took longer than any caller waits, since its process stood still. */
  slow?: boolean;
  key: string | undefined;
  /** Ids that the reward would have had. */
  rewardIds: string[];
  status: 'open' | 'paid' | 'refused' | 'failed' | 'unknown';
  paid?: { eventId: string; hash: `0x${string}` };
  body?: string;
}

export function drawSubmission(world: World): EventSubmission {
  const { chance, plan } = world;
  const user = chance.below(plan.users);
  const rule = RULES[chance.one(plan.rules)];
  const brandId = BRANDS[chance.below(plan.brands)];
  if (!rule || !brandId) throw new Error('no such rule or brand');
  const trusted = chance.hit(0.1);
  // Who redeems perks is paid like anybody else, by whichever brand.
  const redeemer = plan.perks.redemptions > 0 && chance.hit(0.6) ? chance.one(USERS) : undefined;
  return {
    brandId,
    eventType: rule.eventType,
    userKey: redeemer ?? `user-${user}`,
    userEmail: undefined,
    // The escrow refuses to pay itself: a reward that the chain skips.
    userAddress: redeemer ?? (chance.hit(0.05) ? ESCROW : undefined),
    channel: undefined,
    skipCooldown: chance.hit(0.1),
    metadata: trusted ? { source: 'voice_claim' } : {},
    withBrandKey: true,
  };
}

/** Sends an event to a replica; `again` repeats an earlier request under its key. */
export function post(world: World, replica: Replica, again?: Request): Request {
  const { chance, plan } = world;
  const submission = again?.submission ?? drawSubmission(world);
  const key = again ? again.key : chance.hit(plan.keyed) ? `key-${world.requests.length}` : undefined;
  const startedMs = world.time.now();
  const request: Request = { replica, submission, startedMs, key, rewardIds: [], status: 'open' };
  world.requests.push(request);
  world.note(
    `${replica.name} gets ${submission.userKey} ${submission.eventType}${key ? ` under ${key}` : ''}`,
  );
  answer(world, request).then(
    () =>
      world.note(`${replica.name} answers ${submission.userKey} ${submission.eventType}: ${request.status}`),
    (error: unknown) => {
      request.status = 'unknown';
      if (replica.alive && !expected(error)) world.findings.add('no surprise', textOf(error));
    },
  );
  return request;
}

async function answer(world: World, request: Request): Promise<void> {
  const { replica, submission, key } = request;
  const perform = async (effect?: Effect): Promise<TriedAnswer> => {
    const outcome = await rewardEvent(
      {
        database: replica.database,
        random: world.random,
        submitter: {
          submit(event) {
            request.rewardIds.push(event.rewardId);
            return replica.submitter.submit(event);
          },
        },
        payouts: { nudge() {} },
        progress: replica.progress,
        answerWhen: world.plan.answerWhen,
        answerTimeoutMs: 8_000,
        crash: replica.crash,
      },
      submission,
      effect,
    );
    return read(outcome);
  };
  if (key === undefined) return take(world, request, await perform());
  const { answerDatabase: database, realClock } = replica;
  const deps = { database, realClock, random: world.random };
  const performOnce = (effect: Effect) => whileClaimed(world, key, () => perform(effect));
  take(world, request, await createAnswerOnce(deps)({ scope: 'events', key, body: key }, performOnce));
}

/** How long a try under a key may stand still before another takes over. */
const CLAIM_MS = 5_000;

/** Works on a keyed request, unless another try may still be at it: then that is what was wrong. */
export async function whileClaimed<T>(world: World, key: string, work: () => Promise<T>): Promise<T> {
  const before = world.claims.get(key);
  const sinceMs = world.time.now() - (before?.atMs ?? 0);
  if (before && !before.isOver && sinceMs < CLAIM_MS)
    world.findings.add('a lease holds for its time', `${key} was taken over after ${sinceMs} ms`);
  const claim = { atMs: world.time.now(), isOver: false };
  world.claims.set(key, claim);
  try {
    return await work();
  } finally {
    claim.isOver = true;
  }
}

function read(outcome: EventOutcome): TriedAnswer {
  if ('paid' in outcome) {
    const { paid, transactionHash } = outcome;
    return {
      status: 200,
      body: JSON.stringify({ eventId: paid.rewardId, hash: transactionHash }),
      kept: 'answer',
    };
  }
  const { code } = outcome.refusal;
  const status = code.startsWith('payout') || code === 'insufficient_brand_balance' ? 500 : 409;
  return { status, body: JSON.stringify({ code }), kept: code.startsWith('payout') ? 'id' : 'nothing' };
}

/** Callers hang up after so long: whatever is said then is said to nobody. */
export const PATIENCE_MS = 30_000;

function take(world: World, request: Request, reply: KeyedAnswer | KeyRefusal): void {
  request.slow = world.time.now() - request.startedMs >= PATIENCE_MS;
  if (!('status' in reply) || request.slow) {
    request.status = 'unknown';
    return;
  }
  request.body = reply.body;
  if (reply.status === 200) {
    request.status = 'paid';
    const paid = JSON.parse(reply.body);
    request.paid = paid;
    if (!world.stored.has(paid.hash))
      world.findings.add('no answer without its payout', 'answered before the transaction was stored');
  } else if (reply.status === 409) request.status = 'refused';
  else request.status = JSON.parse(reply.body).code.startsWith('payout') ? 'unknown' : 'failed';
}
