/** Killed at every moment of a relay, and answers of the node that get lost: never a call without its permit, never twice. */
import { createPublicClient, type Hex, http } from 'viem';
import { afterEach, describe, expect, test } from 'vitest';
import { type AnvilProcess, startAnvil } from '../../kits/chain/chain.ts';
import { type RpcFault, startRpcProxy } from '../../kits/chain/rpc-proxy.ts';
import { PERK, PERK_PRICE, type RelayKit, relayKitOf, startRelayKit } from '../../kits/chain/wallet.ts';
import { databaseKinds } from '../../kits/databases/databases.ts';
import { serve, temporaryDirectory } from '../../kits/service/cli.ts';

const CHAIN = ['--hardfork', 'cancun', '--gas-limit', '1000000000'];
const PERMIT = '0xd505accf';
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
}, 60_000);

/** What the gas wallet did on the chain, by nonce; each call must stand behind its own permit. */
async function callsOf(url: string, kit: Pick<RelayKit, 'contracts'>) {
  const node = createPublicClient({ transport: http(url) });
  const head = await node.getBlockNumber();
  const numbers = Array.from({ length: Number(head) + 1 }, (_, number) => BigInt(number));
  const blocks = await Promise.all(
    numbers.map((blockNumber) => node.getBlock({ blockNumber, includeTransactions: true })),
  );
  const all = blocks.flatMap(({ transactions }) => transactions);
  const isCall = ({ to, input }: (typeof all)[number]) =>
    to === kit.contracts.perks.toLowerCase() && input.startsWith('0x') && input.length === 10 + 3 * 64;
  const senders = new Set(all.filter((one) => one.input.startsWith(PERMIT)).map(({ from }) => from));
  const calls = all.filter((one) => isCall(one) && senders.has(one.from));
  for (const call of calls) {
    const before = all.find(({ from, nonce }) => from === call.from && nonce === call.nonce - 1);
    expect(before?.input.startsWith(PERMIT), `nonce ${call.nonce} has its permit before it`).toBe(true);
    // The same user: the permit's owner is the call's buyer.
    expect(before?.input.slice(10, 74)).toBe(call.input.slice(10, 74));
  }
  return calls;
}

async function earn(
  kit: Pick<RelayKit, 'users'>,
  pay: (userEmail: string, eventType: string) => Promise<unknown>,
) {
  for (const { email } of Object.values(kit.users))
    for (const eventType of ['account_creation', 'first_purchase', 'referral']) await pay(email, eventType);
}

/** All on one database; on the other those at which the two commits differ most. */
const moments: Record<'sqlite' | 'postgres', string[]> = {
  sqlite: [
    'lane.signed:2',
    'lane.before-store:1',
    'lane.stored:1',
    'lane.sent:1',
    'lane.marked-sent:1',
    'lane.sent:2',
    'follow.before-commit:1',
  ],
  postgres: ['lane.stored:1', 'lane.sent:1', 'follow.before-commit:1'],
};

describe.each(databaseKinds)('killed (on $kind)', ({ kind, open }) => {
  test.each(moments[kind])(
    'at %s: after a restart the purchase is there once, behind its permit',
    async (point) => {
      const anvil: AnvilProcess = await startAnvil(CHAIN);
      stops.push(() => anvil.stop());
      const database = await open();
      stops.push(database.stop);
      const { path: cwd, remove } = await temporaryDirectory();
      stops.push(remove);
      const args = ['--port', '0', '--persist-to', 'data', '--rpc-url', anvil.url];
      if (database.databaseUrl) args.push('--database-url', database.databaseUrl);
      const first = await serve(args, { cwd });
      let kit = await relayKitOf(first.ready);
      await earn(kit, (userEmail, eventType) => kit.event({ userEmail, eventType }));
      await first.stop();

      const second = await serve(args, { cwd, env: { REWARDS_CRASH_AT: point } });
      stops.push(async () => second.child.exitCode ?? second.stop('SIGKILL'));
      kit = await relayKitOf(second.ready).catch(() => kit);
      const { alice } = kit.users;
      const permit = await kit.permit(alice);
      const buy = (of: typeof kit) =>
        of.relay(
          { ...alice, token: of.users.alice.token },
          { ...of.purchase(alice.address, PERK, PERK_PRICE), metadata: { permit } },
          { 'idempotency-key': 'one' },
        );
      const told = await buy(kit).catch(() => undefined);
      await expect.poll(() => second.child.signalCode).toBe('SIGKILL');

      const third = await serve(args, { cwd });
      stops.push(() => third.stop());
      const after = await relayKitOf(third.ready);
      const again = await buy(after);
      expect(again.status, JSON.stringify(again.body)).toBe(200);
      if (told?.status === 200) expect(again.body).toEqual(told.body);
      expect(await after.perksOf(alice.address, PERK)).toBe(1n);
      expect(await callsOf(anvil.url, after)).toHaveLength(1);
    },
    60_000,
  );
});

describe('answers of the node that get lost', () => {
  test.each<RpcFault[]>([
    ['lost-answer'],
    ['lost-request'],
    ['duplicate'],
    ['garbage', 'unavailable', 'truncated'],
  ])(
    '%s: everybody who was told so has the perk, nobody has it twice',
    async (...faults) => {
      const anvil = await startAnvil(CHAIN);
      stops.push(() => anvil.stop());
      const proxy = await startRpcProxy({ target: anvil.url, seed: 7 });
      stops.push(() => proxy.stop());
      const engine = { lane: { resendAfterMs: 200, bumpAfterMs: 2_000 } };
      const kit = await startRelayKit({ rpcUrl: proxy.url, engine }, anvil.url);
      stops.push(kit.stop);
      await earn(kit, (userEmail, eventType) => kit.event({ userEmail, eventType }));
      for (const fault of faults)
        proxy.add({
          fault,
          // A quarter of the calls in all. A block takes several: when most fail, hardly any turn of the follower succeeds.
          probability: 0.25 / faults.length,
          method: /eth_sendRawTransaction|Receipts|getBlock/,
        });

      // One after the other for each user: a permit is for the owner's present nonce.
      const people = Object.values(kit.users);
      const bought = new Map<Hex, number>(people.map(({ address }) => [address, 0]));
      await Promise.all(
        people.map(async (user) => {
          for (let n = 0; n < 4; n++) {
            const permit = await kit.permit(user);
            const body = { ...kit.purchase(user.address, PERK, PERK_PRICE), metadata: { permit } };
            const headers = { 'idempotency-key': `${n}` };
            let answer = await kit.relay(user, body, headers);
            // A node that gives no answer makes ours a 500: the same request again finds what became of it.
            for (let tries = 0; answer.status >= 500 && tries < 20; tries++)
              answer = await kit.relay(user, body, headers);
            if (answer.status === 200) bought.set(user.address, (bought.get(user.address) ?? 0) + 1);
          }
        }),
      );
      proxy.heal();
      for (const [address, count] of bought) {
        expect(count).toBe(4);
        expect(await kit.perksOf(address, PERK)).toBe(BigInt(count));
      }
      const calls = await callsOf(anvil.url, kit);
      expect(calls).toHaveLength(12);
      expect(new Set(calls.map(({ hash }) => hash)).size).toBe(12);
    },
    300_000,
  );
});
