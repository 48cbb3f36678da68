/** Gives a new brand of the emulator what it needs on chain: RWT to pay from, and a gas wallet. */
import type { Address } from 'viem';
import type { ContractAddresses } from '../../chain/contracts/deployment-steps.ts';
import { openGasWallet } from '../../chain/development/open-gas-wallet.ts';
import { fundBrands } from '../../chain/development/prepare-chain.ts';
import { readFunds } from '../../ledger/brands/brand-configuration.ts';
import { listBrands } from '../../ledger/brands/brands.ts';
import { createMutex } from '../../lib/mutex.ts';
import { delay } from '../../lib/timers.ts';
import type { SeedChange } from '../../rules/brands/seed-changes.ts';
import type { Fixture } from '../fixture/fixture.ts';
import { buildFixture, type StackDeps } from './prepare-stack.ts';

const POLL_MS = 20;
const BOOKED_WITHIN_MS = 10_000;

export function createBrandOpener(deps: StackDeps, contracts: ContractAddresses) {
  // One at a time, since the admin's account uses its nonces in order.
  const oneByOne = createMutex();
  const booked = async (brandId: Address, amount: number) => {
    for (let waitedMs = 0; waitedMs < BOOKED_WITHIN_MS; waitedMs += POLL_MS) {
      const funds = await readFunds(deps.database.db, [brandId]);
      if ((funds.get(brandId)?.deposited ?? 0) >= amount) return;
      await delay(POLL_MS);
    }
    throw new Error(`the deposit of ${brandId} was not booked within ${BOOKED_WITHIN_MS / 1000} s`);
  };
  return {
    /** Mints RWT; resolves when the ledger has booked it, so that the next event can be paid from it. */
    async openEscrow(brandId: Address, amount: number): Promise<void> {
      await oneByOne(() => fundBrands(deps, contracts.pointsSale, [{ brandId, amount }]));
      await booked(brandId, amount);
    },
    /** Makes ledger and chain what the fixture says, while the service runs; returns what it changed. */
    async applyFixture(fixture: Fixture): Promise<SeedChange[]> {
      const before = new Set((await listBrands(deps.database.db)).map(({ brandId }) => brandId));
      const { changes } = await oneByOne(() => buildFixture(deps, contracts, { fixture, named: true }));
      for (const { brand, escrow } of fixture.brands) {
        if (!before.has(brand.brandId)) await booked(brand.brandId, escrow);
      }
      return changes;
    },
    /** Opens the brand's gas wallet, which then pays the gas of its users. */
    openGasWallet: (brandId: Address): Promise<void> =>
      oneByOne(() => openGasWallet(deps, { brandId, perks: contracts.perks, nowMs: deps.clock.now() })),
  };
}
