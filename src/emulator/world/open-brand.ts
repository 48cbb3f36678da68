/** Gives a new brand of the emulator what it needs on chain: RWT to pay from, and a gas wallet. */
import type { Address } from 'viem';
import type { ContractAddresses } from '../../chain/contracts/deploy.ts';
import type { GasKeys } from '../../chain/work/relay-lanes.ts';
import { readFunds } from '../../ledger/brands/brand-configuration.ts';
import type { Clock } from '../../lib/clock.ts';
import { createMutex } from '../../lib/mutex.ts';
import { delay } from '../../lib/timers.ts';
import { openGasWallet } from './open-gas-wallet.ts';
import { fundBrands, type PrepareChainDeps } from './prepare-chain.ts';

const POLL_MS = 20;
const BOOKED_WITHIN_MS = 10_000;

export function createBrandOpener(
  deps: PrepareChainDeps & { keys: GasKeys; clock: Clock },
  contracts: ContractAddresses,
) {
  // One at a time, since the admin's account uses its nonces in order.
  const oneByOne = createMutex();
  return {
    /** Mints RWT; resolves when the ledger has booked it, so that the next event can be paid from it. */
    async openEscrow(brandId: Address, amount: number): Promise<void> {
      await oneByOne(() => fundBrands(deps, contracts.pointsSale, [{ brandId, amount }]));
      for (let waitedMs = 0; waitedMs < BOOKED_WITHIN_MS; waitedMs += POLL_MS) {
        const funds = await readFunds(deps.database.db, [brandId]);
        if ((funds.get(brandId)?.deposited ?? 0) >= amount) return;
        await delay(POLL_MS);
      }
      throw new Error(`the deposit of ${brandId} was not booked within ${BOOKED_WITHIN_MS / 1000} s`);
    },
    /** Opens the brand's gas wallet, which then pays the gas of its users. */
    openGasWallet: (brandId: Address): Promise<void> =>
      oneByOne(() => openGasWallet(deps, { brandId, perks: contracts.perks, nowMs: deps.clock.now() })),
  };
}
