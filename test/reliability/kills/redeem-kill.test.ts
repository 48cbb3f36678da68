/** Killed at every moment of a redemption: once or not at all, and never a debit without a code. */
import { afterEach, describe, expect, test } from 'vitest';
import { crashPoints, redemptionCrashPoints } from '../../../src/lib/crash-points.ts';
import { type AnvilProcess, startAnvil } from '../../kits/chain/chain.ts';
import {
  freshKey,
  heldOnChain,
  MUG,
  personWith,
  redeemBody,
  redeemedOnChain,
} from '../../kits/chain/redeeming.ts';
import { databaseKinds } from '../../kits/databases/databases.ts';
import { serve, temporaryDirectory } from '../../kits/service/cli.ts';
import { type Answer, clientOf } from '../../kits/service/service.ts';

const CALLERS = 20;
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
}, 60_000);

type Client = ReturnType<typeof clientOf>;

/** Those that the work of a redemption passes. */
const ofRedemptions = [...redemptionCrashPoints, ...crashPoints].filter((point) =>
  /^(?:redeem\.|lane\.(?!bump)|follow\.(?!reopened))/.test(point),
);
/** All with TORTURE_POINTS=all; else those at which the commits differ most. */
const moments: Record<'sqlite' | 'postgres', readonly string[]> =
  process.env.TORTURE_POINTS === 'all'
    ? { sqlite: ofRedemptions, postgres: ofRedemptions }
    : {
        sqlite: ['redeem.before-commit', 'redeem.committed', 'lane.stored', 'lane.sent', 'follow.committed'],
        postgres: ['redeem.committed', 'lane.before-store', 'follow.before-commit'],
      };

async function world(open: (typeof databaseKinds)[number]['open']) {
  const anvil: AnvilProcess = await startAnvil(['--hardfork', 'cancun', '--gas-limit', '1000000000']);
  stops.push(() => anvil.stop());
  const { databaseUrl, stop } = await open();
  stops.push(stop);
  const { path: cwd, remove } = await temporaryDirectory();
  stops.push(remove);
  const args = ['--port', '0', '--rpc-url', anvil.url, '--persist-to', 'data'];
  if (databaseUrl) args.push('--database-url', databaseUrl);
  return async (env: Record<string, string> = {}) => {
    const stack = await serve(args, { cwd, env });
    stops.push(async () => stack.child.exitCode ?? stack.child.signalCode ?? stack.stop('SIGKILL'));
    return { ...stack, client: clientOf(stack.ready) };
  };
}

describe.each(databaseKinds)('one process (on $kind)', ({ kind, open }) => {
  test.each([...moments[kind]])(
    `killed at %s while ${CALLERS} callers with one key and as many without wait: the RWT for one is debited once, with a code`,
    async (point) => {
      const life = await world(open);
      const first = await life();
      const { email, wallet } = await personWith(first.client, MUG.cost + 100);
      await first.stop();
      const second = await life({ REWARDS_CRASH_AT: `${point}:1` });
      const key = freshKey();
      const ask = (client: Client, keyed: boolean): Promise<Answer | undefined> => {
        const headers: Record<string, string> = keyed ? { 'idempotency-key': key } : {};
        return client
          .post('/perks/redeem', redeemBody(client, email, MUG.id), headers)
          .catch(() => undefined);
      };
      const told = await Promise.all(
        Array.from({ length: 2 * CALLERS }, (_, n) => ask(second.client, n % 2 === 0)),
      );
      await expect.poll(() => second.child.signalCode, { timeout: 20_000 }).toBe('SIGKILL');
      const third = await life();
      // Whichever of the requests was admitted before the kill is redeemed; if none was, this one is.
      const again = await ask(third.client, true);
      const { client } = third;
      await expect.poll(() => client.balanceOf(wallet), { timeout: 20_000 }).toBe(100n);
      expect(await heldOnChain(client, wallet, MUG.tokenId)).toBe(1n);
      const { perks, collected } = await redeemedOnChain(client);
      expect([perks.length, collected.length]).toEqual([1, 1]);
      const codes = [...told, again].flatMap((one) =>
        one?.status === 200 ? [one.body.confirmationCode] : [],
      );
      expect(new Set(codes).size).toBeLessThanOrEqual(1);
      const verify = async () => (await client.request(`${client.ready.urls.control}/verify`)).body;
      await expect.poll(async () => (await verify()).ok, { timeout: 20_000 }).toBe(true);
      if (again?.status !== 200) expect(again?.body.details.reason).toBe('insufficient_balance');
    },
    120_000,
  );
});
