/** The mints of one process: production's plan of a session's mint, its lane, and the board on which callers wait. */
import { saleMintData, sessionMintKey } from '../../../src/chain/contracts/sale-mint.ts';
import { createLane } from '../../../src/chain/lane/lane.ts';
import type { LaneDeps, LaneSettings } from '../../../src/chain/lane/types.ts';
import type { Rpc } from '../../../src/chain/rpc/rpc.ts';
import { createMintWaiters } from '../../../src/chain/waiting/mint-waiters.ts';
import { mintWork } from '../../../src/chain/work/mint-work.ts';
import { type MintPlan, type MintProgress, planMint } from '../../../src/ledger/payments/mints.ts';
import { CONTRACTS, MINT_LANE, USERS } from './model/accounts.ts';
import { cheapSigner } from './model/cheap-signer.ts';
import { BRANDS } from './sim-ledger.ts';
import type { World } from './world.ts';

interface MintingDeps extends Omit<LaneDeps, 'signer' | 'work' | 'settings'> {
  rpc: Rpc;
  lane: Omit<LaneSettings, 'purpose' | 'storeMax'>;
}

/** The mint of the `number`th session, the same for everybody who asks; no two are alike. */
export const sessionMint = (number: number): Omit<MintPlan, 'createdAt'> => {
  const sessionId = `cs_sim_${number}`;
  return {
    sessionId,
    key: sessionMintKey(sessionId),
    kind: number % 3 === 2 ? 'escrow' : 'wallet',
    brandId: BRANDS[0] ?? '0x',
    wallet: USERS[number % 2] ?? '0x',
    paymentIntentId: null,
    usdCents: number + 1,
    rwtAmount: (number + 1) * 10,
  };
};

/** What the lane is to send for it. */
export const sessionMintData = (number: number) => {
  const { key, kind, brandId, wallet, rwtAmount } = sessionMint(number);
  return saleMintData({ key, kind, recipient: kind === 'wallet' ? wallet : brandId, amount: rwtAmount });
};

export function createMinting(world: World, deps: MintingDeps) {
  const { plan } = world;
  const { database, log, clock } = deps;
  const progress = createMintWaiters({ database, log, pollMs: 900 });
  const signer = cheapSigner(MINT_LANE);
  const work = mintWork({
    ...deps,
    account: signer.address,
    pointsSale: CONTRACTS.pointsSale,
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
    settings: { ...deps.lane, purpose: 'mint', storeMax: plan.storeMax },
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
    /** What payment-mint does once the processor says that the session is paid. */
    async mintSession(number: number): Promise<MintProgress | undefined> {
      const wish = sessionMint(number);
      await database.atomically((tx) => planMint(tx, { ...wish, createdAt: clock.now() }));
      return progress.waitFor({ sessionId: wish.sessionId, timeoutMs: 8_000 });
    },
  };
}
