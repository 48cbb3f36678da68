/** Leaderboards when the chain takes blocks with rewards back: they show what blocks pay now, and equal a recount at every rest. */
import { afterEach, expect, test } from 'vitest';
import { crowd, type EngineKit, eventually, impatient, startEngineKit } from '../../engine/kit.ts';

let kit: EngineKit | undefined;
afterEach(async () => {
  await kit?.stop();
  kit = undefined;
});

/** Depth at which these tests call a block final. */
const finalityBlocks = 8;
async function start(): Promise<EngineKit> {
  kit = await startEngineKit({
    blockTimeSeconds: 0,
    config: { engine: { ...impatient, follow: { finalityBlocks } } },
  });
  return kit;
}

interface Entry {
  userIdentifier: string;
  rank: number;
  value: number;
}

async function board({ request, brand }: EngineKit, metric: string): Promise<Entry[]> {
  const { body } = await request(`/leaderboard/${brand.brandId}?metric=${metric}&period=all&limit=100`);
  return body.leaderboard.map(({ userIdentifier, rank, value }: Entry) => ({ userIdentifier, rank, value }));
}

/** RWT and ranks, counted from what the escrow has paid on the chain as it is now. */
async function recount(engine: EngineKit): Promise<Record<'rwt_earned' | 'claims', Entry[]>> {
  const rewards = new Map((await engine.ledger.rewards()).map((one) => [one.sequence, one]));
  const sums = new Map<string, { rwt_earned: number; claims: number }>();
  for (const { sequence } of (await engine.evidence()).paid) {
    const { userKey, amount } = rewards.get(sequence) ?? { userKey: '', amount: 0 };
    const { rwt_earned, claims } = sums.get(userKey) ?? { rwt_earned: 0, claims: 0 };
    sums.set(userKey, { rwt_earned: rwt_earned + amount, claims: claims + 1 });
  }
  const ranked = (metric: 'rwt_earned' | 'claims') =>
    [...sums].map(([userIdentifier, one]) => ({
      userIdentifier,
      rank: 1 + [...sums.values()].filter((other) => other[metric] > one[metric]).length,
      value: one[metric],
    }));
  return { rwt_earned: ranked('rwt_earned'), claims: ranked('claims') };
}

const byUser = (entries: Entry[]) =>
  [...entries].sort((one, other) => (one.userIdentifier < other.userIdentifier ? -1 : 1));

/** The boards are what the chain says, and `verify` finds nothing. */
async function boardsAgree(engine: EngineKit): Promise<void> {
  for (const metric of ['rwt_earned', 'claims'] as const)
    await eventually(async () => byUser(await board(engine, metric))).toEqual(
      byUser((await recount(engine))[metric]),
    );
  const differences = async () =>
    (await engine.request(`${engine.ready.urls.control}/verify`)).body.differences;
  await eventually(differences).toEqual([]);
}

/** Two rewards for some, one for others, in blocks of their own. */
async function paid(engine: EngineKit) {
  const [often, once, late] = [crowd(2), crowd(2), crowd(1)];
  await engine.pay([...often, ...once]);
  await engine.drained();
  await engine.pay(often, { eventType: 'form_submit' });
  await engine.drained();
  await engine.pay(late);
  await engine.drained();
  await boardsAgree(engine);
  return { often, once, late };
}

test('rewards whose blocks are gone are off the boards until they are paid again', async () => {
  const engine = await start();
  const { often, late } = await paid(engine);
  const before = byUser(await board(engine, 'rwt_earned'));
  await engine.rpc('evm_setAutomine', false);
  // The last two payouts are gone, and nothing that the lane sends gets into the new blocks.
  await engine.rpc('anvil_reorg', 2, []);
  await eventually(async () => {
    const entries = await board(engine, 'rwt_earned');
    return entries.filter(({ userIdentifier }) => late.includes(userIdentifier));
  }).toEqual([]);
  const claims = (await board(engine, 'claims')).filter((one) => often.includes(one.userIdentifier));
  expect(claims.map(({ value, rank }) => [value, rank])).toEqual([
    [1, 1],
    [1, 1],
  ]);
  await engine.rpc('evm_setAutomine', true);
  await engine.mine();
  await engine.drained();
  await boardsAgree(engine);
  expect(byUser(await board(engine, 'rwt_earned'))).toEqual(before);
});

test('a block that holds something else in the place of the rewards: they count once, when they are paid after all', async () => {
  const engine = await start();
  const { late } = await paid(engine);
  const before = byUser(await board(engine, 'rwt_earned'));
  const nonce = (await engine.laneNonce()) - 1;
  const competing = await engine.signForeign({ nonce });
  await engine.rpc('anvil_reorg', 1, [[competing, 0]]);
  await eventually(() => engine.alarms()).toContain('nonce_lost');
  const entries = await board(engine, 'rwt_earned');
  expect(entries.filter(({ userIdentifier }) => late.includes(userIdentifier))).toEqual([]);
  await engine.mine(finalityBlocks + 1);
  await engine.drained();
  await eventually(async () => byUser(await board(engine, 'rwt_earned'))).toEqual(before);
  for (const metric of ['rwt_earned', 'claims'] as const)
    expect(byUser(await board(engine, metric))).toEqual(byUser((await recount(engine))[metric]));
});

test('again and again, while rewards go on', async () => {
  const engine = await start();
  const users = crowd(6);
  await engine.pay(users);
  for (let round = 0; round < 5; round++) {
    await engine.pay(users.slice(round), {
      eventType: [
        'complete_survey',
        'subscribe_renewal',
        'first_purchase',
        'email_verification',
        'rate_experience',
      ][round],
    });
    await engine.rpc('anvil_reorg', 1 + (round % 3), []);
  }
  await engine.drained();
  await boardsAgree(engine);
});
