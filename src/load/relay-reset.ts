/** Checks the end of the windows: before its reset every user is refused, from then on every user is admitted. */
import { rateWindowIn } from '../client/reply.ts';
import { moveClock, showClock } from '../contract/control/clock.ts';
import { runPaced } from './pace.ts';
import type { RelayTally, UserTally } from './relay-tally.ts';
import { verdictOf } from './relay-tally.ts';
import { addressOf, type Client, type LoadUser, PreparationError, relayOne } from './relay-users.ts';

export interface ResetCheck {
  /** Users with a used-up window that were checked. */
  checked: number;
  /** Users still refused just before the first reset. */
  refusedBefore: number;
  /** Users admitted again at the last reset. */
  admittedAfter: number;
  count: number;
  problems: string[];
}

/** How long before the first reset the clock is set: long enough for every user to be refused once more. */
const BEFORE_MS = 5_000;
const AT_ONCE = 32;

/** Moves the emulator's clock to the end of the windows. Users have two calls left, from `nextCall` on. */
export async function checkResets(
  deps: {
    client: Client;
    users: LoadUser[];
    tally: RelayTally;
    signal: AbortSignal;
    origin?: string | undefined;
  },
  wish: { nextCall: number; base: number },
): Promise<ResetCheck | undefined> {
  const { client, users, tally, signal } = deps;
  const { limit } = tally.read();
  const usedUp = tally.users.flatMap((user, index) =>
    isUsedUp(user, limit) ? [{ index, at: user.resetAtMs ?? 0 }] : [],
  );
  if (usedUp.length === 0) return undefined;
  const problems: string[] = [];
  const [first, last] = [Math.min(...usedUp.map(({ at }) => at)), Math.max(...usedUp.map(({ at }) => at))];

  const ask = async (place: number, call: number) => {
    const { index } = usedUp[place] ?? { index: 0 };
    const user = users[index];
    if (!user) throw new Error(`there is no user ${index}`);
    // The addresses' windows have ended by then.
    const address = addressOf({ base: wish.base, perUser: 1 }, { user: index, request: 0 });
    return relayOne(client, { user, call, address, origin: deps.origin });
  };
  const everyone = async (
    call: number,
    judge: (index: number, verdict: string, remaining: number | undefined) => void,
  ) => {
    const run = async (place: number) => {
      const reply = await ask(place, call);
      judge(
        usedUp[place]?.index ?? 0,
        reply ? verdictOf(reply) : 'no answer',
        reply && rateWindowIn(reply.headers)?.remaining,
      );
    };
    await runPaced({ count: usedUp.length, run }, { concurrency: AT_ONCE }, signal);
  };

  let refusedBefore = 0;
  const nowMs = await clockOf(client);
  if (first - BEFORE_MS > nowMs) await setClock(client, first - BEFORE_MS);
  const early: string[] = [];
  await everyone(wish.nextCall, (index, verdict) => {
    if (verdict === 'refused') refusedBefore += 1;
    else early.push(`user ${index}: ${verdict} before its window was over`);
  });
  // On a slow machine the clock may have passed the first reset meanwhile: then early answers prove nothing.
  if ((await clockOf(client)) < first) problems.push(...early);

  let admittedAfter = 0;
  if (!signal.aborted) {
    await setClock(client, last);
    await everyone(wish.nextCall + 1, (index, verdict, remaining) => {
      if (verdict === 'admitted') admittedAfter += 1;
      else problems.push(`user ${index}: ${verdict} after its window was over`);
      if (verdict === 'admitted' && remaining !== (limit ?? 0) - 1) {
        problems.push(`user ${index}: ${remaining} Remaining after the first call of a new window`);
      }
    });
  }
  return {
    checked: usedUp.length,
    refusedBefore,
    admittedAfter,
    count: problems.length,
    problems: problems.slice(0, 20),
  };
}

const isUsedUp = ({ admitted, resetAtMs }: UserTally, limit: number | undefined) =>
  limit !== undefined && admitted >= limit && resetAtMs !== undefined;

export async function clockOf(client: Client): Promise<number> {
  const reply = await client.call(showClock);
  if (reply.status !== 200) throw new PreparationError('the clock could not be read', reply);
  return reply.body.nowMs;
}

/** Moves forward only: a time that has passed changes nothing. */
async function setClock(client: Client, toMs: number): Promise<void> {
  if ((await clockOf(client)) >= toMs) return;
  const reply = await client.call(moveClock, { body: { set: new Date(toMs).toISOString() } });
  if (reply.status !== 200) throw new PreparationError('the clock could not be moved', reply);
}
