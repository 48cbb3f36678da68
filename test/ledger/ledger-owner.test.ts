/** The owner of a ledger: none while it is empty, then the first that wrote to it. */
import { expect, test } from 'vitest';
import { saveBrand } from '../../src/ledger/brands/brands.ts';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { readLedgerOwner, writeFact } from '../../src/ledger/facts.ts';
import { freshAddress, freshHash } from '../kits/databases/databases.ts';
import { brandRow } from './brands.ts';

const contracts = {
  token: freshAddress(),
  escrow: freshAddress(),
  perks: freshAddress(),
  pointsSale: freshAddress(),
};
const chain = { chainId: 7, genesisHash: freshHash(), deploymentBlock: 1, contracts };
const clock = { offsetMs: 0, frozenAtMs: null };

test('a ledger without tables, without brands and without a chain has no owner', async () => {
  const database = openSqlite(':memory:');
  expect(await readLedgerOwner(database)).toEqual({ owner: 'nobody' });
  await database.script('create table facts (name text primary key not null, value text not null)');
  expect(await readLedgerOwner(database)).toEqual({ owner: 'nobody' });
  await database.close();
});

test('a brand or a chain makes it one of production, a clock one of the emulator', async () => {
  const database = openSqlite(':memory:');
  await migrate(database);
  expect(await readLedgerOwner(database)).toEqual({ owner: 'nobody' });
  await saveBrand(database.db, brandRow({ brandId: freshAddress(), domains: [] }));
  expect(await readLedgerOwner(database)).toEqual({ owner: 'production' });
  await writeFact(database.db, 'chain', chain);
  expect(await readLedgerOwner(database)).toEqual({ owner: 'production', chainId: 7 });
  await writeFact(database.db, 'clock', clock);
  expect(await readLedgerOwner(database)).toEqual({ owner: 'emulator', chainId: 7 });
  await database.close();
});

test('an emulator that has deployed nothing yet has no chain', async () => {
  const database = openSqlite(':memory:');
  await migrate(database);
  await writeFact(database.db, 'clock', clock);
  expect(await readLedgerOwner(database)).toEqual({ owner: 'emulator', chainId: undefined });
  await database.close();
});
