/** What a stack asks of its node while nothing happens, and that what happens then does not wait for the next look. */
import { afterEach, expect, test } from 'vitest';
import type { EngineOverrides } from '../../src/compose/config.ts';
import { personWith, redeemBody, WALLPAPERS } from '../kits/chain/redeeming.ts';
import { type EngineKit, eventually, startEngineKit } from './kit.ts';

let kit: EngineKit | undefined;
afterEach(async () => {
  await kit?.stop();
  kit = undefined;
});

const NEVER_MS = 600_000;
const HEAD = 'eth_getBlockByNumber';
/** Every lane polls this often, and looks at nothing by itself later on. */
const polled = (idlePollMs: number): EngineOverrides => ({
  payout: { idlePollMs },
  mint: { idlePollMs },
  redeem: { idlePollMs },
  relay: { idlePollMs, gasCheckMs: NEVER_MS },
  lane: { resendAfterMs: NEVER_MS },
});

test('an idle stack asks its node for the newest block and for nothing else, however many lanes it has', async () => {
  const follow = { idlePollMs: 5 };
  kit = await startEngineKit({ config: { engine: { ...polled(5), follow } } });
  const { proxy } = kit;
  const asked = (method: string) => proxy.counts.get(method) ?? 0;
  /** Methods that were asked for beside the head's while the follower looked 30 times; each lane has as many turns. */
  const besideTheHead = async () => {
    const before = new Map(proxy.counts);
    await eventually(() => asked(HEAD)).toBeGreaterThan((before.get(HEAD) ?? 0) + 30);
    return [...proxy.counts].filter(([what, count]) => what !== HEAD && count !== (before.get(what) ?? 0));
  };
  await eventually(besideTheHead).toEqual([]);
});

test('a reward, a mint and a redemption wake their lanes, which would not look by themselves', async () => {
  kit = await startEngineKit({ config: { engine: polled(NEVER_MS) } });
  const buyer = await personWith(kit, 500);
  const redeemed = await kit.post('/perks/redeem', redeemBody(kit, buyer.email, WALLPAPERS.id));
  expect([redeemed.status, redeemed.body]).toMatchObject([200, { success: true }]);
});
