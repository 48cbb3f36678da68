/** A ledger belongs to `serve` or to `start`: each refuses the other's before it writes a single row. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Database } from '../../src/ledger/database/database.ts';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { writeFact } from '../../src/ledger/facts.ts';
import { postgresMissing, startPostgres, type TestPostgres } from '../kits/databases/databases.ts';
import { everyTable } from '../kits/databases/every-table.ts';
import { rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';
import {
  CHAIN_ID,
  type ProductionKit,
  prepareLedger,
  startProductionKit,
} from '../kits/service/production.ts';

// Each starts a whole service, or tries to.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let kit: ProductionKit;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  kit = await startProductionKit();
  project = await temporaryDirectory();
});
afterAll(async () => {
  await kit.stop();
  await project.remove();
});

/** Every row of every table, as the database has it. */
async function dump(database: Database) {
  const tables = await database.tables();
  const rows = await Promise.all(
    Object.entries(everyTable).map(async ([name, table]) => [name, await database.db.select().from(table)]),
  );
  return { columns: Object.fromEntries(tables), rows: Object.fromEntries(rows) };
}

/** A ledger that `start` has used: its chain is a real one, and it has a brand. */
async function ofProduction(database: Database) {
  await prepareLedger(database);
  const { block, ...contracts } = kit.contracts;
  const genesis = (await kit.rpc('eth_getBlockByNumber', ['0x0', false])) as { hash: `0x${string}` };
  await writeFact(database.db, 'chain', {
    chainId: CHAIN_ID,
    genesisHash: genesis.hash,
    contracts,
    deploymentBlock: Number(block),
  });
}

const serve = (env: Record<string, string>, args: string[] = []) =>
  rewardsJson(['serve', '--port', '0', '--rpc-port', '0', ...args], { cwd: project.path, env });

describe.skipIf(postgresMissing())('on Postgres', () => {
  let postgres: TestPostgres;
  let database: Database;
  beforeAll(async () => {
    postgres = await startPostgres();
    database = openPostgres(postgres.url);
    await ofProduction(database);
  });
  afterAll(async () => {
    await database.close();
    await postgres.stop();
  });

  test("serve with production's variables is refused and changes nothing", async () => {
    const before = await dump(database);
    const { code, envelope } = await serve(kit.environment(postgres.url), [
      '--clock',
      '2031-01-01T00:00:00Z',
    ]);
    expect(code).toBe(2);
    expect(envelope.error).toMatchObject({
      code: 'E_USAGE',
      message: expect.stringContaining('REWARDS_DATABASE_URL is a setting of `rewards start`'),
      hint: expect.stringContaining('REWARDS_DEV_DATABASE_URL'),
    });
    expect(await dump(database)).toEqual(before);
  });

  test.each([
    ['with its node', () => ({ REWARDS_DEV_RPC_URL: kit.anvil.url })],
    ['with a chain of its own', () => ({})],
  ])(
    "serve pointed at production's ledger by its own variables, %s: refused, and nothing changed",
    async (_, node) => {
      const before = await dump(database);
      const env = { ...kit.environment(postgres.url), REWARDS_DEV_DATABASE_URL: postgres.url, ...node() };
      const { code, envelope } = await serve(env, ['--clock', '2031-01-01T00:00:00Z']);
      expect(code).toBe(5);
      expect(envelope.error).toMatchObject({
        code: 'E_PRODUCTION_LEDGER',
        message: expect.stringContaining(`belongs to chain ${CHAIN_ID}`),
      });
      expect(await dump(database)).toEqual(before);
    },
  );

  test('a ledger with brands that was never started is refused as well, even without its migrations', async () => {
    const other = await startPostgres();
    const ledger = openPostgres(other.url);
    await prepareLedger(ledger);
    const newest = 'delete from migrations where number = (select max(number) from migrations)';
    await ledger.script(newest);
    const before = await dump(ledger);
    const { code, envelope } = await serve({ REWARDS_DEV_DATABASE_URL: other.url });
    expect(code).toBe(5);
    expect(envelope.error).toMatchObject({ code: 'E_PRODUCTION_LEDGER' });
    expect(await dump(ledger)).toEqual(before);
    await ledger.close();
    await other.stop();
  });

  test("start, brand and db migrate refuse an emulator's ledger", async () => {
    const other = await startPostgres();
    const ledger = openPostgres(other.url);
    await migrate(ledger);
    await writeFact(ledger.db, 'clock', { offsetMs: 86_400_000, frozenAtMs: null });
    const before = await dump(ledger);
    const env = kit.environment(other.url);
    for (const command of [['start'], ['start', '--check'], ['brand', 'list'], ['db', 'migrate']]) {
      const { code, envelope } = await rewardsJson(command, { env });
      expect(code).toBe(5);
      expect(envelope.error).toMatchObject({ code: 'E_PROD_EMULATOR_LEDGER' });
    }
    expect(await dump(ledger)).toEqual(before);
    await ledger.close();
    await other.stop();
  });
});

describe('on SQLite', () => {
  test("serve on the folder of production's ledger is refused and changes nothing", async () => {
    const path = `${project.path}/production/ledger.sqlite`;
    await mkdir(dirname(path));
    const prepared = openSqlite(path);
    await ofProduction(prepared);
    const before = await dump(prepared);
    await prepared.close();
    const { code, envelope } = await serve({}, ['--persist-to', 'production']);
    expect(code).toBe(5);
    expect(envelope.error).toMatchObject({ code: 'E_PRODUCTION_LEDGER' });
    const after = openSqlite(path);
    expect(await dump(after)).toEqual(before);
    await after.close();
  });

  test('start refuses the ledger of a stopped emulator', async () => {
    const stack = await serveHere(['--port', '0', '--rpc-port', '0', '--persist-to', 'emulator'], {
      cwd: project.path,
    });
    await stack.stop();
    const env = kit.environment(`sqlite:${project.path}/emulator/ledger.sqlite`, {
      REWARDS_ALLOW_SQLITE: 'true',
    });
    const { code, envelope } = await rewardsJson(['start', '--check'], { env });
    expect(code).toBe(5);
    const codes = envelope.error.details.problems.map((problem: { code: string }) => problem.code);
    expect(codes).toContain('E_PROD_EMULATOR_LEDGER');
  });
});

test('serve refuses a node of a real chain, whose money its published keys would sign for', async () => {
  const { code, envelope } = await serve({}, ['--ephemeral', '--rpc-url', kit.anvil.url]);
  expect(code).toBe(5);
  expect(envelope.error).toMatchObject({
    code: 'E_REAL_CHAIN',
    message: expect.stringContaining(`is of chain ${CHAIN_ID}`),
  });
});

test('serve says which of its variables stands for one that it no longer reads', async () => {
  const stack = await serveHere(['--ephemeral', '--port', '0', '--rpc-port', '0'], {
    cwd: project.path,
    env: { REWARDS_SEED: 'shop.yaml', REWARDS_RPC_URL: kit.anvil.url, REWARDS_DEV_SED: 'x' },
  });
  await stack.stop();
  expect(stack.stderr()).toContain('REWARDS_SEED is not a variable of serve; it reads REWARDS_DEV_SEED');
  expect(stack.stderr()).not.toContain('REWARDS_SEED is set');
  expect(stack.stderr()).toContain('REWARDS_DEV_SED is set, but rewards does not read it');
  expect(stack.stderr()).toContain('did you mean REWARDS_DEV_SEED?');
  expect(stack.stderr()).toContain(
    'REWARDS_RPC_URL is not a variable of serve; it reads REWARDS_DEV_RPC_URL',
  );
});
