/** A ledger in memory with a brand, for tests of what the service does to it without a host, a chain or a second process. */
import { createBrand } from '../../src/actions/brands/manage-brands.ts';
import type { ManageBrandsDeps } from '../../src/actions/brands/named-brand.ts';
import { atMs, type Database } from '../../src/ledger/database/database.ts';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { bookMovement } from '../../src/ledger/rewards/funds.ts';
import { adjustableClock } from '../../src/lib/clock.ts';
import { secureRandom } from '../../src/lib/ids.ts';
import type { Settings } from '../../src/rules/brands/settings.ts';
import { freshAddress, freshHash, freshKey } from '../kits/databases/databases.ts';

export const START_MS = Date.UTC(2030, 0, 1);

export interface TestLedger extends ManageBrandsDeps {
  database: Database;
  clock: ReturnType<typeof adjustableClock>;
  businessTime: () => ReturnType<typeof atMs>;
  /** Users' wallets, one after the other from 0x…1000000. */
  addressAt: (index: number) => `0x${string}`;
  close(): Promise<void>;
}

/** In memory, or in an empty database. Its clock stands at START_MS until it is moved. */
export async function openLedger(database: Database = openSqlite(':memory:')): Promise<TestLedger> {
  await migrate(database);
  const clock = adjustableClock({ frozen: true });
  clock.set(START_MS);
  return {
    database,
    clock,
    random: secureRandom(clock),
    businessTime: () => atMs(clock.now()),
    serviceName: 'rewards',
    keyEnvironment: 'test',
    defaultsFor: 'emulator',
    loopbackDomains: false,
    addressAt: (index) => `0x${(0x1000000 + index).toString(16).padStart(40, '0')}`,
    close: () => database.close(),
  };
}

/** A brand of its own with the domain `<its id's end>.example`, and `deposit` RWT in its escrow. */
export async function someBrand(
  ledger: TestLedger,
  { deposit = 0, ...settings }: Settings & { deposit?: number } = {},
) {
  const brandId = freshAddress();
  const domain = `${brandId.slice(-6)}.example`;
  const made = await createBrand(ledger, { brandId, name: `Brand ${brandId}`, domains: domain, ...settings });
  if ('refusal' in made) throw new Error(JSON.stringify(made.refusal));
  if (deposit > 0)
    await ledger.database.atomically((tx) =>
      bookMovement(tx, {
        id: freshKey('movement'),
        brandId,
        kind: 'deposit',
        amount: deposit,
        transactionHash: freshHash(),
        logIndex: 0,
        blockNumber: 1,
        createdAt: START_MS,
      }),
    );
  return { ...made, domain };
}
