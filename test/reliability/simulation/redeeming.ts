/** The redemptions of one process: production's way from a request to the ledger, its lane, and the board on which callers wait. */
import type { Effect } from '../../../src/actions/answer-once.ts';
import { type JudgedRedemption, judgeRedemption } from '../../../src/actions/perks/judge-redemption.ts';
import { createPerkRedeemer, type RedeemOutcome } from '../../../src/actions/perks/redeem-perk.ts';
import type { Permit } from '../../../src/chain/contracts/permit.ts';
import { createLane } from '../../../src/chain/lane/lane.ts';
import type { LaneDeps, LaneSettings } from '../../../src/chain/lane/types.ts';
import type { Rpc } from '../../../src/chain/rpc/rpc.ts';
import { createRedemptionWaiters } from '../../../src/chain/waiting/redemption-waiters.ts';
import { redeemWork } from '../../../src/chain/work/redeem-work.ts';
import { giveUpExpired } from '../../../src/ledger/perks/redemption-queue.ts';
import type { Random } from '../../../src/lib/ids.ts';
import type { Asker } from '../../../src/rules/perks/consent.ts';
import { permitOf, standingOf, type Word } from './callers/words.ts';
import { CONTRACTS, PERK, REDEEM_LANE, USERS } from './model/accounts.ts';
import { cheapSigner } from './model/cheap-signer.ts';
import type { World } from './world.ts';

interface RedeemingDeps extends Omit<LaneDeps, 'signer' | 'work' | 'settings'> {
  rpc: Rpc;
  lane: Omit<LaneSettings, 'purpose' | 'storeMax'>;
  /** What asks a node to try redemptions out. */
  trialRpc: Rpc;
  /** Who asks for a redemption of this user. */
  askerOf: (word: Word, user: `0x${string}`) => Asker;
}

/** How long a redemption waits for a transaction: for longer than a run goes on before it is calm. */
export const GIVE_UP_AFTER_MS = 10_000_000;

/** Makes another code for each redemption. */
export const withCodes = (world: World): Random => ({
  ...world.random,
  bytes(length) {
    world.codes += 1;
    return Uint8Array.from({ length }, (_, at) => Math.floor(world.codes / 32 ** at) % 32);
  },
});

/** Who asks for the `number`th redemption. */
export const redeemerOf = (number: number) => USERS[number % USERS.length] ?? '0x';

export function createRedeeming(world: World, deps: RedeemingDeps) {
  const { plan } = world;
  const { database, log, clock, rpc, crash } = deps;
  const progress = createRedemptionWaiters({ database, log, pollMs: 900 });
  const signer = cheapSigner(REDEEM_LANE);
  const work = redeemWork({
    ...deps,
    rpc: deps.trialRpc,
    account: signer.address,
    perks: CONTRACTS.perks,
    contracts: Object.values(CONTRACTS),
    batchMax: plan.storeMax,
    refusedRetryMs: 1_000,
    refusedRetryMaxMs: 4_000,
    onSent() {},
    onGivenUp: progress.look,
  });
  const lane = createLane({
    ...deps,
    signer,
    work,
    settings: { ...deps.lane, purpose: 'redeem', storeMax: plan.storeMax },
  });
  const judging = {
    database,
    rpc,
    clock,
    contracts: CONTRACTS,
    ownAddresses: new Set<string>(),
    ownHosts: [],
    ownDomain: 'chat.example',
    permitMarginMs: 60_000,
    // The contracts here take permits, and have no cap.
    collecting: { takesPermits: async () => true, capIn: async () => undefined },
    readPermit: async (permit: Permit) => standingOf(world, permit),
    // The perk here has no constraints.
    checkConstraints: () => Promise.resolve([]),
  };
  const redeem = createPerkRedeemer({
    ...judging,
    crash,
    answerTimeoutMs: 8_000,
    alarms: deps.alarms,
    redemptions: { nudge() {}, waitFor: progress.waitFor },
    random: withCodes(world),
  });
  const wantedBy = (user: `0x${string}`, word: Word) => ({
    brandId: PERK.brandId,
    perkId: PERK.id,
    userKey: user,
    userAddress: user,
    asker: deps.askerOf(word, user),
    permit: word.by === 'permit' ? permitOf(word) : undefined,
  });
  return {
    look: progress.look,
    reload: lane.reload,
    async turn(): Promise<boolean> {
      const late = { now: database.now, afterMs: GIVE_UP_AFTER_MS };
      if ((await giveUpExpired(database.db, late)).length > 0) progress.look();
      const tried = await work.tryOut().then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      const outcome = await lane.turn();
      if (tried) throw tried.error;
      return outcome === 'worked';
    },
    /** What POST perks/redeem does with an idempotency key. */
    redeemPerk(wish: { number: number; word: Word }, effect: Effect): Promise<RedeemOutcome> {
      return redeem(wantedBy(redeemerOf(wish.number), wish.word), effect);
    },
    /** What a user is told who only asks whether they could. */
    judge: (user: `0x${string}`, word: Word): Promise<JudgedRedemption> =>
      judgeRedemption(judging, wantedBy(user, word)),
  };
}
