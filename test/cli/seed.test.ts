/** Seed files against a ledger that is kept: what they change at a start, and while the stack runs; and `reset`. */
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { databaseKinds } from '../kits/databases/databases.ts';
import { rewards, rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';

// Each starts a stack several times.
vi.setConfig({ testTimeout: 120_000 });

const shop = `0x${'51'.repeat(20)}`;
const other = `0x${'52'.repeat(20)}`;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeEach(async () => {
  project = await temporaryDirectory();
});
afterEach(() => project.remove());

const brand = (id: string, domain: string, events: string) =>
  `  - { brandId: '${id}', name: Shop, domains: [${domain}], escrow: 1000, events: { ${events} } }\n`;
const seedFile = (text: string, name = 'shop.yaml') => writeFile(join(project.path, name), text);
const start = (...args: string[]) =>
  serveHere(['--port', '0', '--rpc-port', '0', ...args], { cwd: project.path });
const here = (...args: string[]) => rewardsJson(args, { cwd: project.path });
const events = async (...names: string[]) => {
  const { envelope } = await here('brand', 'show', names[0] ?? 'shop.example');
  const rules: { eventType: string; reward: number }[] = envelope.data.body.rules;
  return Object.fromEntries(rules.map(({ eventType, reward }) => [eventType, reward]));
};

describe.each(databaseKinds)('on $kind', ({ open }) => {
  test('a changed file is applied at the next start, which says what changed; what it does not name stays', async () => {
    const database = await open();
    const on = database.databaseUrl ? ['--database-url', database.databaseUrl] : [];
    await seedFile(`brands:\n${brand(shop, 'shop.example', 'signup: { reward: 10 }')}`);
    const first = await start('--seed', 'shop.yaml', ...on);
    expect(first.ready.seedChanges).toBeUndefined();
    await here('brand', 'rule', 'shop.example', 'by_hand', '--reward', '7');
    await here('brand', 'rule', 'shop.example', 'signup', '--cooldown', '1h');
    const added = ['brand', 'create', other, '--brand-name', 'Second', '--domain', 'second.example'];
    expect((await here(...added)).code).toBe(0);
    await first.stop();

    const changed = brand(shop, 'shop.example', 'signup: { reward: 33 }, fresh: { reward: 5 }');
    await seedFile(`brands:\n${changed}`);
    const again = await start('--seed', 'shop.yaml', ...on);
    const about = { brandId: shop, brand: 'Shop' };
    expect(again.ready.seedChanges).toEqual([
      { ...about, eventType: 'signup', setting: 'reward', from: '10', to: '33' },
      { ...about, eventType: 'signup', setting: 'cooldown', from: '1h', to: '1d' },
      { ...about, eventType: 'fresh', setting: null, from: null, to: 'added' },
    ]);
    expect(await events()).toEqual({ signup: 33, fresh: 5, by_hand: 7 });
    expect(again.ready.brands.map((one: { brandId: string }) => one.brandId)).toEqual([shop, other]);
    const sent = await here('send-event', 'fresh', '--user', 'alice@shop.example');
    expect(sent.envelope.data).toMatchObject({ status: 200, body: { rewardAmount: 5 } });
    expect((await here('verify')).code).toBe(0);
    await again.stop();
    await database.stop();
  });

  test('aliases of the file are aliases of the ledger: one wallet from the start, and what changes is said', async () => {
    const database = await open();
    const on = database.databaseUrl ? ['--database-url', database.databaseUrl] : [];
    const [byNumber, ada, eve] = ['wordpress_42@rewards.localhost', 'ada@mail.example', 'eve@mail.example'];
    const withAliases = (aliases: string) =>
      seedFile(
        `brands:\n${brand(shop, 'shop.example', 'signup: { reward: 10, maxClaims: 1 }').replace(' }\n', `, aliases: ${aliases} }\n`)}`,
      );
    const listed = async () =>
      (await here('brand', 'alias', 'shop.example')).envelope.data.body.aliases.map(
        ({ alias, user }: { alias: string; user: string }) => [alias, user],
      );
    await withAliases(`{ ${byNumber}: ${ada} }`);
    const stack = await start('--seed', 'shop.yaml', ...on);
    expect(await listed()).toEqual([[byNumber, ada]]);
    expect((await here('seed')).envelope.data.body.changes).toEqual([]);
    const paid = await here('send-event', 'signup', '--user', byNumber);
    expect(paid.envelope.data).toMatchObject({ status: 200, body: { rewardAmount: 10 } });
    const balance = await here('wallet', 'balance', ada);
    expect(balance.envelope.data.body).toMatchObject({
      balance: 10,
      walletAddress: paid.envelope.data.body.walletAddress,
    });

    // Another user for the alias, and a second alias; one that only the ledger has stays.
    await here('brand', 'alias', 'shop.example', 'by-hand@mail.example', ada);
    await withAliases(`{ ${byNumber}: ${eve}, eve.old@mail.example: ${eve} }`);
    const about = { brandId: shop, brand: 'Shop', eventType: null };
    const changes = [
      { ...about, setting: `aliases.${byNumber}`, from: ada, to: eve },
      { ...about, setting: 'aliases.eve.old@mail.example', from: null, to: eve },
    ];
    const shown = await here('seed', '--diff');
    expect(shown.envelope.data.body).toEqual({ applied: false, changes });
    expect(await listed()).toEqual([
      ['by-hand@mail.example', ada],
      [byNumber, ada],
    ]);
    expect((await here('seed', '--apply')).envelope.data.body).toEqual({ applied: true, changes });
    expect(await listed()).toEqual([
      ['by-hand@mail.example', ada],
      ['eve.old@mail.example', eve],
      [byNumber, eve],
    ]);
    expect((await here('seed')).envelope.data.body.changes).toEqual([]);

    // The other way round than the ledger has it: nobody can say whose wallet is meant.
    await withAliases(`{ ${ada}: by-hand@mail.example }`);
    const turned = await here('seed', '--apply');
    expect([turned.code, turned.envelope.error.code]).toEqual([2, 'E_FIXTURE']);
    expect(turned.envelope.error.message).toContain(
      'in this ledger by-hand@mail.example is an alias of ada@mail.example',
    );
    expect((await here('verify')).code).toBe(0);
    await stack.stop();
    await database.stop();
  });
});

test('two brands of the file may exchange their domains', async () => {
  const two = (a: string, b: string) => `brands:\n${brand(shop, a, '')}${brand(other, b, '')}`;
  await seedFile(two('a.example', 'b.example'));
  await (await start('--seed', 'shop.yaml')).stop();
  await seedFile(two('b.example', 'a.example'));
  const again = await start('--seed', 'shop.yaml');
  expect((await here('brand', 'show', 'a.example')).envelope.data.body.brandId).toBe(other);
  await again.stop();
});

test('seed --diff and --apply on a running stack, with the line of each mistake', async () => {
  await seedFile(`brands:\n${brand(shop, 'shop.example', 'signup: { reward: 10 }')}`);
  const stack = await start('--seed', 'shop.yaml', '--ephemeral');
  expect((await here('seed')).envelope.data.body).toEqual({ applied: false, changes: [] });

  const second = brand(other, 'second.example', 'visit: { reward: 3 }');
  await seedFile(`brands:\n${brand(shop, 'shop.example', 'signup: { reward: 11 }')}${second}`);
  const shown = await rewards(['seed', '--diff'], { cwd: project.path });
  expect(shown.stdout).toBe(
    'Shop  signup  reward  10 → 11\nShop  added\nnothing was changed; --apply does\n',
  );
  expect(await events()).toEqual({ signup: 10 });

  const applied = await rewards(['seed', 'shop.yaml', '--apply'], { cwd: project.path });
  expect(applied).toMatchObject({ code: 0, stdout: expect.stringContaining('applied') });
  const sent = await here(
    'send-event',
    'visit',
    '--user',
    'bob@shop.example',
    '--brand',
    other,
    '--domain',
    'second.example',
  );
  expect(sent.envelope.data).toMatchObject({ status: 200, body: { rewardAmount: 3 } });
  expect((await here('seed')).envelope.data.body.changes).toEqual([]);

  await seedFile('brands:\n  - { name: Shop }\n', 'bad.yaml');
  const bad = await here('seed', 'bad.yaml');
  expect(bad.code).toBe(2);
  expect(bad.envelope.error).toMatchObject({
    code: 'E_FIXTURE',
    message: expect.stringMatching(/bad\.yaml:2:5 brands\[0\]\.brandId: is missing/),
  });
  expect((await here('seed', '--diff', '--apply')).code).toBe(2);
  await stack.stop();
});

test('without --seed, a ledger with brands of its own is left alone, and its brand is the one that commands take', async () => {
  await seedFile(`brands:\n${brand(shop, 'shop.example', 'signup: { reward: 10 }')}`);
  await (await start('--seed', 'shop.yaml')).stop();
  const again = await start();
  expect(again.ready.brands).toMatchObject([{ brandId: shop, domain: 'shop.example' }]);
  const sent = await here('send-event', 'signup', '--user', 'alice@shop.example');
  expect(sent.envelope.data.status).toBe(200);
  await again.stop();
});

test('without --seed, changes of the demo brand outlive a restart', async () => {
  const first = await start();
  await here('brand', 'rule', 'demo.example', 'account_creation', '--reward', '5');
  await first.stop();
  const again = await start();
  expect(await events('demo.example')).toMatchObject({ account_creation: 5 });
  await again.stop();
});

describe('reset', () => {
  const state = () => join(project.path, '.rewards', 'state');

  test('begins anew in place while the stack runs; asks, and lets the next start begin anew', async () => {
    const stack = await start();
    const once = () => here('send-event', 'account_creation', '--user', 'alice@demo.example');
    expect([(await once()).code, (await once()).code]).toEqual([0, 1]);
    await here('clock', 'advance', '24h');
    const { now } = (await here('clock', 'show')).envelope.data.body;
    const kept = await here('reset', '--yes', '--keep', 'clock');
    expect(kept.envelope.data.body).toMatchObject({ brands: 1 });
    expect(kept.envelope.data.body.clock > now).toBe(true);
    expect((await once()).code).toBe(0);
    const anew = await here('reset', '--yes');
    expect(anew.envelope.data.body.clock < now).toBe(true);
    expect((await once()).code).toBe(0);
    await stack.stop();

    const unasked = await here('reset');
    expect([unasked.code, unasked.envelope.error.hint]).toEqual([2, 'Add --yes to delete it.']);
    const no = await rewards(['reset'], { cwd: project.path, answer: 'n' });
    expect([no.code, existsSync(join(state(), 'ledger.sqlite'))]).toEqual([2, true]);
    const yes = await rewards(['reset'], { cwd: project.path, answer: 'y' });
    expect([yes.code, existsSync(state())]).toEqual([0, false]);

    const again = await start();
    expect((await here('send-event', 'account_creation', '--user', 'alice@demo.example')).code).toBe(0);
    await again.stop();
    expect((await here('reset', '--yes')).code).toBe(0);
    expect((await rewards(['reset', '--yes'], { cwd: project.path })).stdout).toContain('holds no data');
  });

  test("leaves files of others alone, and takes a garbled ledger's place", async () => {
    const folder = join(project.path, 'data');
    await (await start('--persist-to', 'data')).stop();
    await writeFile(join(folder, 'mine.txt'), 'mine');
    await rm(join(folder, 'ledger.sqlite-wal'), { force: true });
    await writeFile(join(folder, 'ledger.sqlite'), 'this is no database at all'.repeat(100));
    expect((await here('reset', '--yes', '--persist-to', 'data')).code).toBe(0);
    expect([existsSync(join(folder, 'mine.txt')), existsSync(join(folder, 'ledger.sqlite'))]).toEqual([
      true,
      false,
    ]);
  });
});
