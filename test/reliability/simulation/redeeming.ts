/** The redemptions of one process: production's way from a request to the ledger, its lane, and the board on which callers wait. */
import type { Effect } from '../../../src/actions/answer-once.ts';
import { createPerkRedeemer, type RedeemOutcome } from '../../../src/actions/perks/redeem-perk.ts';
import { createLane } from '../../../src/chain/lane/lane.ts';
import type { LaneDeps, LaneSettings } from '../../../src/chain/lane/types.ts';
import type { Rpc } from '../../../src/chain/rpc/rpc.ts';
import { createRedemptionProgress } from '../../../src/chain/waiting/redemption-outcome.ts';
import { redeemWork } from '../../../src/chain/work/redemptions/redeem-work.ts';
import { asking, collectsAnything } from '../../kits/consent.ts';
import { CONTRACTS, PERK, REDEEM_LANE, USERS } from './model/accounts.ts';
import { cheapSigner } from './model/cheap-signer.ts';
import type { World } from './world.ts';

interface RedeemingDeps extends Omit<LaneDeps, 'signer' | 'work' | 'settings'> {
  rpc: Rpc;
  lane: Omit<LaneSettings, 'purpose' | 'storeMax'>;
}

/** Who asks for the `number`th redemption. */
export const redeemerOf = (number: number) => USERS[number % USERS.length] ?? '0x';

export function createRedeeming(world: World, deps: RedeemingDeps) {
  const { plan } = world;
  const { database, log, clock, rpc, crash } = deps;
  const progress = createRedemptionProgress({ database, log, pollMs: 900 });
  const signer = cheapSigner(REDEEM_LANE);
  const work = redeemWork({
    ...{ ...deps, account: signer.address, perks: CONTRACTS.perks, contracts: Object.values(CONTRACTS) },
    ...{
      batchMax: plan.storeMax,
      refusedRetryMs: 1_000,
      refusedRetryMaxMs: 4_000,
      onSent() {},
      onGivenUp: progress.look,
    },
  });
  const lane = createLane({
    ...{ ...deps, signer, work },
    settings: { ...deps.lane, purpose: 'redeem', storeMax: plan.storeMax },
  });
  const redeem = createPerkRedeemer({
    ...{ database, rpc, clock, crash, contracts: CONTRACTS, answerTimeoutMs: 8_000 },
    ...{ alarms: deps.alarms, ownAddresses: new Set(), ownHosts: [], ownDomain: 'chat.example' },
    // Users ask themselves here, of contracts without a cap.
    ...{ collecting: collectsAnything, permitMarginMs: 60_000 },
    readPermit: () => Promise.resolve({ state: 'not_signed' }),
    // The perk here has no constraints.
    checkConstraints: () => Promise.resolve([]),
    redemptions: { nudge() {}, waitFor: progress.waitFor },
    // Another code for each redemption.
    random: {
      ...world.random,
      bytes(length) {
        world.codes += 1;
        return Uint8Array.from({ length }, (_, at) => Math.floor(world.codes / 32 ** at) % 32);
      },
    },
  });
  return {
    look: progress.look,
    reload: lane.reload,
    async turn(): Promise<boolean> {
      const tried = await work.tryOut().then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      const outcome = await lane.turn();
      if (tried) throw tried.error;
      return outcome === 'worked';
    },
    /** What POST perks/redeem does with an idempotency key. */
    redeemPerk(number: number, effect: Effect): Promise<RedeemOutcome> {
      const { brandId, id: perkId } = PERK;
      const user = redeemerOf(number);
      const asker = asking({ wallets: [user] });
      return redeem({ brandId, perkId, userKey: user, userAddress: user, asker, permit: undefined }, effect);
    },
  };
}
