/** Builds what a fixture describes: contracts on chain, brands in the ledger, their money, gas wallets and perks. */
import type { ContractAddresses } from '../../chain/contracts/deployment-steps.ts';
import { gasWalletCalls } from '../../chain/development/open-gas-wallet.ts';
import {
  aloneInSetup,
  depositCalls,
  type PrepareChainDeps,
  prepareContracts,
  sendAsAdmin,
} from '../../chain/development/prepare-chain.ts';
import type { GasKeys } from '../../chain/work/relay-lanes.ts';
import { listBrands } from '../../ledger/brands/brands.ts';
import type { Facts } from '../../ledger/facts.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/ids.ts';
import type { SeedChange } from '../../rules/brands/seed-changes.ts';
import type { Fixture } from '../fixture/fixture.ts';
import { seedLedger } from '../fixture/seed-ledger.ts';
import { seedPerks } from '../fixture/seed-perks.ts';

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
export async function buildFixture(
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
