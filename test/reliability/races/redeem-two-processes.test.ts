/** Redemptions when two processes share one database and everybody comes at once: never beyond a user's RWT or the stock. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AnvilProcess, startAnvil } from '../../kits/chain.ts';
import { serve, temporaryDirectory } from '../../kits/cli.ts';
import { databaseKinds, type TestDatabase } from '../../kits/databases.ts';
import { heldOnChain, MUG, personWith, redeemBody, redeemedOnChain } from '../../kits/redeeming.ts';
import { clientOf } from '../../kits/service.ts';
import { type RelayKit, relayKitOf } from '../../kits/wallet.ts';

const AT_ONCE = 200;
const postgres = databaseKinds.find(({ kind }) => kind === 'postgres');

describe.skipIf(!postgres)('two processes on one Postgres', () => {
  let anvil: AnvilProcess;
  let database: TestDatabase | undefined;
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  const stacks: Awaited<ReturnType<typeof serve>>[] = [];
  const clients: ReturnType<typeof clientOf>[] = [];
  let kit: RelayKit;
  beforeAll(async () => {
    anvil = await startAnvil(['--hardfork', 'cancun', '--gas-limit', '1000000000']);
    database = await postgres?.open();
    folder = await temporaryDirectory();
    const on = ['--database-url', database?.databaseUrl ?? '', '--rpc-url', anvil.url];
    for (let n = 0; n < 2; n++) {
      const stack = await serve(['--ephemeral', '--port', '0', ...on], { cwd: folder.path });
      stacks.push(stack);
      clients.push(clientOf(stack.ready));
    }
    kit = (await relayKitOf((stacks[0] as (typeof stacks)[number]).ready)) as RelayKit;
  }, 60_000);
  afterAll(async () => {
    for (const stack of stacks) await stack.stop();
    await database?.stop();
    await anvil?.stop();
    await folder?.remove();
  }, 30_000);
  const both = () => clients as [(typeof clients)[number], (typeof clients)[number]];
  /** Spread over the processes. */
  const redeem = (email: string, n: number) => {
    const client = both()[n % 2 === 0 ? 0 : 1];
    return client.post('/perks/redeem', redeemBody(client, email, MUG.id));
  };
  /** The kit sells perks past the service, which a comparison rightly names. */
  const verified = () =>
    expect
      .poll(
        async () => {
          const { body } = await both()[0].request(`${both()[0].ready.urls.control}/verify`);
          return body.differences.filter(({ kind }: { kind: string }) => !kind.startsWith('perk_'));
        },
        { timeout: 20_000 },
      )
      .toEqual([]);

  test(`${AT_ONCE} at once with money for one: one code, and the balance is never negative`, async () => {
    const [one] = both();
    const { email, wallet } = await personWith(one, MUG.cost + 100);
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => redeem(email, n)));
    const codes = answers.flatMap(({ status, body }) => (status === 200 ? [body.confirmationCode] : []));
    expect(codes).toHaveLength(1);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(new Set(refused.map(({ status, body }) => `${status} ${body.details.reason}`))).toEqual(
      new Set(['400 insufficient_balance']),
    );
    expect(await one.balanceOf(wallet)).toBe(100n);
    expect(await heldOnChain(one, wallet, MUG.tokenId)).toBe(1n);
    const { collected } = await redeemedOnChain(one);
    expect(collected.filter(({ args }) => args.user?.toLowerCase() === wallet.toLowerCase())).toHaveLength(1);
    await verified();
  }, 120_000);

  test('a stock of two is sold twice, by relay and redemption together', async () => {
    const [one] = both();
    await kit.setPerk(BigInt(MUG.tokenId), 0n, 2n);
    const redeemers = await Promise.all(Array.from({ length: 12 }, () => personWith(one, 0)));
    for (const client of both()) {
      const asked = redeemBody(client, redeemers[0]?.email ?? '', MUG.id);
      const cost = async () => (await client.post('/perks/check-eligibility', asked)).body.perkCost;
      await expect.poll(cost).toBe(0);
    }
    const buyers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => kit.keyless(`stock-buyer-${n}@people.example`)),
    );
    const [redeemed, bought] = await Promise.all([
      Promise.all(redeemers.map(({ email }, n) => redeem(email, n))),
      Promise.all(buyers.map((user) => kit.relay(user, kit.purchase(user.address, BigInt(MUG.tokenId), 0n)))),
    ]);
    const heldBy = (wallet: `0x${string}`) => heldOnChain(one, wallet, MUG.tokenId);
    const ofRedeemers = await Promise.all(redeemers.map(({ wallet }) => heldBy(wallet)));
    const ofBuyers = await Promise.all(buyers.map(({ address }) => heldBy(address)));
    expect([...ofRedeemers, ...ofBuyers].reduce((sum, held) => sum + held, 0n)).toBe(2n);
    // Who was told a code has the perk, and nobody else has.
    for (const [place, { status, body }] of redeemed.entries()) {
      expect(ofRedeemers[place]).toBe(status === 200 ? 1n : 0n);
      if (status !== 200) expect(['perk_sold_out', 'redemption_failed']).toContain(body.details.reason);
    }
    expect(bought.length).toBe(12);
    await verified();
  }, 120_000);
});
