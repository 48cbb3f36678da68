/** Builds what a fixture describes: contracts on chain, brands in the ledger, their money, gas wallets and perks; for a brand that comes later, too. */
import type { Address } from 'viem';
import type { ContractAddresses } from '../../chain/contracts/deployment-steps.ts';
import { gasWalletCalls, openGasWallet } from '../../chain/development/open-gas-wallet.ts';
import {
  aloneInSetup,
  depositCalls,
  fundBrands,
  type PrepareChainDeps,
  prepareContracts,
  sendAsAdmin,
} from '../../chain/development/prepare-chain.ts';
import type { ChainClient } from '../../chain/rpc/client.ts';
import type { GasKeys } from '../../chain/work/relay-lanes.ts';
import { readFunds } from '../../ledger/brands/brand-configuration.ts';
import { listBrands } from '../../ledger/brands/brands.ts';
import type { Database } from '../../ledger/database/database.ts';
import type { Facts } from '../../ledger/facts.ts';
import { openTerms } from '../../ledger/perks/perk-terms.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/ids.ts';
import { createMutex } from '../../lib/mutex.ts';
import { delay, stopwatch } from '../../lib/timers.ts';
import type { SeedChange } from '../../rules/brands/seed-changes.ts';
import type { Fixture } from '../fixture/fixture.ts';
import { seedLedger, seedPerks } from '../fixture/seed-ledger.ts';

export interface StackDeps extends PrepareChainDeps {
  /** Of the brands' gas wallets. */
  keys: GasKeys;
  clock: Clock;
  realClock: Clock;
  random: Random;
  wallets: { addressAt: (index: number) => `0x${string}` };
}

/** What a stack starts with. */
export interface Seed {
  fixture: Fixture;
  /** False for the packaged demo: it is for a ledger without brands, and leaves one that has brands alone. */
  named: boolean;
}

/** What the fixture has become in the ledger. `addresses` are the users' wallets, by e-mail. */
export interface Seeded {
  fixture: Fixture;
  addresses: Map<string, `0x${string}`>;
  changes: SeedChange[];
  /** Whether the ledger had no brands before. */
  isFirst: boolean;
}

/** May run again: existing contracts stay, and the brands of a named fixture become what it says. */
export async function prepareStack(
  deps: StackDeps,
  seed: Seed,
): Promise<{ facts: Facts['chain']; seeded: Seeded }> {
  return aloneInSetup({ ...deps, owner: deps.random.uuid() }, async () => {
    const facts = await prepareContracts(deps);
    return { facts, seeded: await buildFixture(deps, facts.contracts, seed) };
  });
}

/** Brings ledger and chain to what the fixture says. A brand's opening deposit and its perks are given once. */
async function buildFixture(
  deps: StackDeps,
  contracts: ContractAddresses,
  { fixture: asked, named }: Seed,
): Promise<Seeded> {
  const nowMs = deps.clock.now();
  const before = await listBrands(deps.database.db);
  const isOld = before.length > 0 && !named;
  const fixture = isOld ? partOf(asked, before) : asked;
  const { addresses, changes } = await seedLedger(
    { ...deps, addressAt: deps.wallets.addressAt },
    { fixture: isOld ? { ...fixture, brands: [] } : fixture, nowMs },
  );
  await seedPerks(deps, fixture, nowMs);
  const deposits = fixture.brands.map(({ brand, escrow }) => ({ brandId: brand.brandId, amount: escrow }));
  const { perks, pointsSale } = contracts;
  const minting = await depositCalls(deps, pointsSale, deposits);
  const wallets = [];
  for (const { brandId } of deposits) wallets.push(await gasWalletCalls(deps, { brandId, perks, nowMs }));
  // All of it together: each wait for a block would be one more.
  await sendAsAdmin(deps, [...minting, ...wallets.flatMap(({ calls }) => calls)]);
  for (const { opened } of wallets) await opened();
  return { fixture, addresses, changes, isFirst: before.length === 0 };
}

/** The part of a fixture that a ledger has; without one of its brands, not even its users. */
function partOf({ brands, users, site }: Fixture, known: readonly { brandId: string }[]): Fixture {
  const ids = new Set(known.map(({ brandId }) => brandId));
  const there = brands.filter(({ brand }) => ids.has(brand.brandId));
  return { brands: there, users: there.length > 0 ? users : [], site };
}

const BOOKED_POLL_MS = 20;
const BOOKED_WITHIN_MS = 10_000;

/** Gives a new brand of the emulator what it needs on chain: RWT to pay from, and a gas wallet. */
export function createBrandOpener(deps: StackDeps, contracts: ContractAddresses) {
  // One at a time, since the admin's account uses its nonces in order.
  const oneByOne = createMutex();
  const booked = async (brandId: Address, amount: number) => {
    for (let waitedMs = 0; waitedMs < BOOKED_WITHIN_MS; waitedMs += BOOKED_POLL_MS) {
      const funds = await readFunds(deps.database.db, [brandId]);
      if ((funds.get(brandId)?.deposited ?? 0) >= amount) return;
      await delay(BOOKED_POLL_MS);
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

/** A start waits for it. */
const ON_CHAIN_POLL_MS = 5;
/** A block may take a while where the chain has a block time. */
const ON_CHAIN_WITHIN_MS = 60_000;

interface PerksOnChainDeps {
  database: Database;
  chain: Pick<ChainClient, 'nonce'>;
  /** How many confirmations a block needs before the ledger reads it, its own included. */
  confirmations: number;
}

/** Waits until the contract knows every perk of the ledger; the redeem lane tells it. */
export async function perksOnChain(deps: PerksOnChainDeps): Promise<void> {
  const elapsedMs = stopwatch();
  while (elapsedMs() < ON_CHAIN_WITHIN_MS) {
    if (await areOnChain(deps)) return;
    await delay(ON_CHAIN_POLL_MS);
  }
  throw new Error(`the terms of perks were not on chain within ${ON_CHAIN_WITHIN_MS / 1000} s`);
}

/**
 * Terms count once the ledger has read their block. Where it asks for more confirmations, which without transactions never
 * come, the chain's word is enough.
 */
async function areOnChain({ database, chain, confirmations }: PerksOnChainDeps): Promise<boolean> {
  const open = await openTerms(database.db);
  if (confirmations <= 1) return open.length === 0;
  const highest = new Map<`0x${string}`, number>();
  for (const { lane, nonce } of open) {
    if (lane === null || nonce === null) return false;
    highest.set(lane, Math.max(nonce, highest.get(lane) ?? 0));
  }
  for (const [lane, nonce] of highest) if ((await chain.nonce(lane)) <= nonce) return false;
  return true;
}
