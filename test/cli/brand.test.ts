import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { brandKeys } from '../../src/ledger/schema/brands.ts';
import { postgresMissing, startPostgres } from '../kits/databases/databases.ts';
import { rewards, rewardsJson, temporaryDirectory } from '../kits/service/cli.ts';
import { someone, startTestService, type TestService } from '../kits/service/service.ts';

let service: TestService;
const shop = `0x${'1'.repeat(40)}`;

beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const around = () => ({ env: { REWARDS_CONTROL_TOKEN: service.ready.controlToken } });
const brand = (...args: string[]) =>
  rewardsJson(['brand', ...args, '--target', service.ready.urls.events], around());
const done = async (...args: string[]) => {
  const { code, envelope } = await brand(...args);
  expect(envelope).toMatchObject({ ok: true });
  expect(code).toBe(exitCodes.done);
  return envelope.data.body;
};
const event = (fields: Record<string, unknown>, headers?: Record<string, string>) =>
  service.event({ brandId: shop, domain: 'shop.example', eventType: 'visit', ...fields }, headers);

describe('on the emulator', () => {
  test('create: a brand that can pay, its key shown once and never stored', async () => {
    const name = ['--brand-name', 'Shop', '--domain', 'https://Shop.example/start', '--domain', 'shop.test'];
    const created = await done('create', shop, ...name, '--platform', 'telegram=@ShopBot', '--escrow', '500');
    expect(created).toMatchObject({
      brandId: shop,
      name: 'Shop',
      domains: ['shop.example', 'shop.test'],
      platforms: { telegram: '@ShopBot' },
      automation: true,
      clientBypass: 'credential',
      mintTo: 'wallet',
      pregenerate: 'open',
      funds: { deposited: 500, promised: 0, available: 500 },
      rules: [],
      apiKey: expect.stringMatching(/^rk_dev_[A-Za-z0-9]{12}_[A-Za-z0-9]{40}$/),
    });
    const shown = await done('show', 'shop.test');
    expect(shown.keys).toEqual([{ keyId: created.keyId, createdAt: created.createdAt, expiresAt: null }]);
    expect(JSON.stringify(shown)).not.toContain(created.apiKey.slice(-40));
    expect((await done('list')).brands.map(({ name }: { name: string }) => name)).toEqual(['Demo', 'Shop']);
  });

  test('rule: the very next event is decided by it', async () => {
    expect((await event({ userEmail: someone() })).body.error).toContain('Event not found');
    await done('rule', shop, 'visit', '--reward', '7', '--cooldown', '0');
    expect((await event({ userEmail: someone() })).body).toMatchObject({ success: true, rewardAmount: 7 });
    const rule = await done('rule', shop, 'visit', '--reward', '9', '--max-claims', 'unlimited');
    expect(rule).toMatchObject({ reward: 9, maxClaims: -1, cooldownMs: 0, active: true });
    expect((await event({ userEmail: someone() })).body.rewardAmount).toBe(9);
    await done('rule', shop, 'visit', '--active', 'off');
    expect((await event({ userEmail: someone() })).status).toBe(400);
    expect(await done('rule', 'shop.example', 'visit')).toMatchObject({ active: false });
    await done('rule', shop, 'visit', '--active', 'on', '--channel', '#vip', '--channel', 'a,b');
    const inChannel = (channel: string) => event({ userEmail: someone(), metadata: { channel_id: channel } });
    expect((await inChannel('#other')).status).toBe(403);
    expect((await inChannel('a,b')).status).toBe(200);
    expect(await done('rule', shop, 'visit', '--channel', 'none')).toMatchObject({ channels: [] });
    await done('rule', shop, 'visit', '--per-usd', '2', '--max-reward', '30');
    const order = await event({ userEmail: someone(), metadata: { order_total: 20 } });
    expect(order.body.rewardAmount).toBe(30);
    await done('rule', shop, 'visit', '--url-pattern', '/thanks*', '--success-selector', '.a, .b');
    const config = await service.request(`/rewards-api/event-config?brandId=${shop}`);
    expect(JSON.stringify(config.body)).toContain('/thanks*');
    expect(await done('rule', shop, 'visit')).toMatchObject({
      method: 'url_pattern',
      successSelectors: ['.a, .b'],
    });
    await done('rule', shop, 'visit', '--remove');
    expect((await event({ userEmail: someone() })).body.error).toContain('Event not found');
    expect(await brand('rule', shop, 'visit', '--remove')).toMatchObject({ code: exitCodes.refused });
  });

  test('set: automation, domains and the rest', async () => {
    await done('rule', shop, 'visit', '--reward', '7', '--cooldown', '0');
    await done('set', shop, 'automation=off');
    expect((await event({ userEmail: someone() })).body.details.reason).toBe('automation_disabled');
    const changed = await done(
      ...['set', shop, 'automation=on', 'domains=new.example', 'name=New shop', 'platforms.telegram='],
      ...['mintTo=escrow', 'clientBypass=allow', 'pregenerate=credential', 'eventNameMapping.signup=visit'],
    );
    expect(changed).toMatchObject({
      name: 'New shop',
      domains: ['new.example'],
      platforms: {},
      mintTo: 'escrow',
      pregenerate: 'credential',
      clientBypass: 'allow',
      eventNameMapping: { signup: 'visit' },
    });
    expect((await event({ userEmail: someone() })).body.details.reason).toBe('domain_not_authorized');
    expect((await event({ userEmail: someone(), domain: 'a.new.example' })).status).toBe(200);
    await done('set', shop, 'domains=shop.example');
  });

  test('rotate-key: the old key lives on for the overlap, by the emulator’s clock', async () => {
    const first = await done('rotate-key', shop, '--overlap', '0');
    const second = await done('rotate-key', shop, '--overlap', '1h');
    expect(first.othersExpireAt).toBe(null);
    expect(Date.parse(second.othersExpireAt)).toBeGreaterThan(0);
    const from = (key: string) =>
      event({ userEmail: someone(), domain: 'elsewhere.example' }, { authorization: `Bearer ${key}` });
    expect((await from(first.apiKey)).status).toBe(200);
    expect((await from(second.apiKey)).status).toBe(200);
    await service.advance('1h1s');
    expect((await from(first.apiKey)).status).not.toBe(200);
    expect((await from(second.apiKey)).status).toBe(200);
  });

  test('dns: the record that verify-dns accepts', async () => {
    const { stdout } = await rewards(
      ['brand', 'dns', service.brand.brandId, 'demo.example', '--target', service.ready.urls.events],
      around(),
    );
    expect(stdout).toMatch(/^_rewards\.demo\.example\. IN TXT "brand_id=0x[0-9a-f]{40};api_key=\S{32}"\n$/);
    const answer = await service.post('/rewards-api/verify-dns', { domain: 'demo.example' });
    expect(answer.body).toMatchObject({ dnsConfigured: true });
  });

  test.each([
    { args: ['create', '0x12', '--brand-name', 'X', '--domain', 'x.example'], said: 'must be an address' },
    {
      args: ['create', `0x${'4'.repeat(40)}`, '--brand-name', 'X', '--domain', 'co.uk'],
      said: 'public suffix',
    },
    {
      args: ['create', `0x${'4'.repeat(40)}`, '--brand-name', 'X', '--domain', 'demo.example'],
      said: 'demo.example belongs to brand 0xa0ee',
    },
    { args: ['create', shop, '--brand-name', 'X', '--domain', 'x.example'], said: 'exists already' },
    { args: ['set', shop, 'automation=perhaps'], said: 'automation must be on or off, not "perhaps"' },
    {
      args: ['set', shop, 'color=red'],
      said: 'color is not a setting of a brand; the settings are name, automation',
    },
    { args: ['set', 'nobody.example', 'name=X'], said: 'Brand not found: nobody.example' },
    { args: ['rule', shop, 'new_event', '--max-claims', '3'], said: 'reward is missing' },
    { args: ['rule', shop, 'visit', '--reward', '0.5'], said: 'whole number of RWT' },
    { args: ['rule', shop, 'visit', '--max-claims', '0'], said: '1 or more, or unlimited' },
    { args: ['rule', shop, 'visit', '--cooldown', 'soon'], said: 'must be a duration' },
    { args: ['rule', shop, 'visit', '--max-reward', '5'], said: 'limits perUsd, which is not set' },
    { args: ['rule', shop, 'visit', '--per-usd', '5'], said: 'perUsd needs maxReward' },
    { args: ['rule', shop, 'a b', '--reward', '5'], said: 'letters, digits and underscores' },
  ])('$args is refused, and says what is wrong', async ({ args, said }) => {
    const { code, envelope } = await brand(...args);
    expect(code).toBe(exitCodes.refused);
    const { message, hint } = envelope.error;
    expect(`${message} ${hint}`).toContain(said);
    expect(envelope.error.details.answer.details.reason).toEqual(expect.any(String));
  });

  test.each([
    { args: ['set', shop, 'automation'], said: 'automation has no value' },
    { args: ['rule', shop, 'visit', '--remove', '--reward', '1'], said: 'exclude each other' },
    { args: ['rotate-key', shop, '--overlap', 'long'], said: 'must be a duration' },
    { args: ['create', shop, '--domain', 'x.example'], said: '--brand-name' },
  ])('$args: nothing is sent', async ({ args, said }) => {
    const { code, envelope } = await brand(...args);
    expect(code).toBe(exitCodes.usage);
    expect(envelope.error.message).toContain(said);
  });

  test('--out: the key in a file of its owner alone, under names of this program; refused, the file is as it was', async () => {
    const project = await temporaryDirectory();
    const brandId = `0x${'7'.repeat(40)}`;
    const here = (...args: string[]) =>
      rewards(['brand', ...args, '-o', 'env', '--target', service.ready.urls.events], {
        ...around(),
        cwd: project.path,
      });
    const create = ['create', brandId, '--brand-name', 'Filed', '--domain', 'filed.example'];
    const file = join(project.path, 'brand.env');
    try {
      const nowhere = await here(...create, '--out', 'missing/brand.env');
      expect([nowhere.code, nowhere.stdout]).toEqual([exitCodes.usage, '']);
      expect(nowhere.stderr).toContain('missing/brand.env cannot be written (ENOENT)');

      // Nothing was created without a place for the key.
      await writeFile(
        file,
        'a line that is longer than what is written into the file in its place\n'.repeat(4),
      );
      await chmod(file, 0o644);
      const made = await here(...create, '--out', 'brand.env');
      expect([made.code, made.stdout]).toEqual([exitCodes.done, '']);
      const written = await readFile(file, 'utf8');
      expect(written).toMatch(/^REWARDS_BRAND_ID=0x7{40}\nREWARDS_API_KEY=rk_\S+\n$/);
      expect((await stat(file)).mode & 0o777).toBe(0o600);

      const again = await here(...create, '--out', 'brand.env');
      expect(again.code).toBe(exitCodes.refused);
      expect(await readFile(file, 'utf8')).toBe(written);
      expect((await here(...create, '--out', 'other.env')).code).toBe(exitCodes.refused);
      await expect(stat(join(project.path, 'other.env'))).rejects.toThrow('ENOENT');

      expect((await here('rotate-key', brandId, '--out', 'key.env')).code).toBe(exitCodes.done);
      expect(await readFile(join(project.path, 'key.env'), 'utf8')).toMatch(/^REWARDS_API_KEY=rk_\S+\n$/);
      const funded = await here('fund', brandId, '5', '--out', 'funding.env');
      expect(funded.code).toBe(exitCodes.done);
      const lines = (await readFile(join(project.path, 'funding.env'), 'utf8')).trim().split('\n');
      expect(lines.filter((line) => !line.startsWith('REWARDS_'))).toEqual([]);
      expect(lines).toContain('REWARDS_AMOUNT=5');
    } finally {
      await project.remove();
    }
  });

  test('without the token nothing is changed and nothing shown', async () => {
    const plain = ['--target', service.ready.urls.events];
    for (const args of [
      ['set', shop, 'name=Mine'],
      ['rotate-key', shop],
      ['dns', shop, 'shop.example'],
      ['show', shop],
    ]) {
      const { code, envelope } = await rewardsJson(['brand', ...args, ...plain]);
      expect({ code, error: envelope.error.code }).toEqual({
        code: exitCodes.precondition,
        error: 'E_CONTROL_TOKEN',
      });
    }
    const shown = await rewardsJson(['brand', 'show', shop, ...plain], around());
    expect(shown.envelope.data.body.name).toBe('New shop');
  });
});

describe.skipIf(postgresMissing())('straight in a database', () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());
  const inDatabase = (...args: string[]) => rewardsJson(['brand', ...args, '--database-url', postgres.url]);

  test('tables that are not there yet: exit 5, nothing created', async () => {
    const { code, envelope } = await inDatabase('list');
    expect(code).toBe(exitCodes.precondition);
    expect(envelope.error).toMatchObject({
      code: 'E_MIGRATIONS_PENDING',
      message: expect.stringContaining('0001-ledger'),
    });
  });

  test('the same commands, live keys, and no RWT from nothing', async () => {
    const database = openPostgres(postgres.url);
    await migrate(database);
    const named = ['--brand-name', 'Shop', '--domain', 'shop.example'];
    expect((await inDatabase('create', shop, ...named, '--escrow', '5')).envelope.error.hint).toContain(
      'on chain',
    );
    const { envelope } = await inDatabase('create', shop, ...named);
    expect(envelope).toMatchObject({
      data: {
        body: {
          clientBypass: 'credential',
          clientAmounts: 'credential',
          apiKey: expect.stringMatching(/^rk_live_/),
        },
      },
      meta: { target: expect.stringMatching(/^postgres:\/\/[^@]+$/) },
    });
    expect((await inDatabase('rule', 'shop.example', 'visit', '--reward', '5')).code).toBe(0);
    expect((await inDatabase('set', 'shop.example', 'automation=off')).code).toBe(0);
    expect((await inDatabase('show', shop)).envelope.data.body).toMatchObject({
      automation: false,
      rules: [{ eventType: 'visit', reward: 5 }],
    });
    expect((await inDatabase('dns', shop, 'shop.example')).envelope.data.body).toMatchObject({ type: 'TXT' });
    const rotated = (await inDatabase('rotate-key', shop)).envelope.data.body;
    const rows = await database.db.select().from(brandKeys);
    expect(rows).toHaveLength(2);
    for (const { digest } of rows) {
      expect(digest).toMatch(/^[0-9a-f]{64}$/);
      expect(rotated.apiKey).not.toContain(digest);
    }
    await database.close();
  });

  test('localhost is a name of every machine, so no brand of production has it', async () => {
    const { code, envelope } = await inDatabase('set', shop, 'domains=shop.example,localhost');
    expect(code).toBe(exitCodes.refused);
    expect(envelope.error.hint).toContain('domains localhost is a name of every machine');
  });

  test('changes at the same time are all kept', async () => {
    const names = ['a', 'b', 'c', 'd'];
    await Promise.all(names.map((name) => inDatabase('set', shop, `platforms.${name}=@${name}`)));
    expect((await inDatabase('show', shop)).envelope.data.body.platforms).toEqual({
      a: '@a',
      b: '@b',
      c: '@c',
      d: '@d',
    });
  });

  test('an address that is none: exit 2', async () => {
    const { code } = await rewardsJson(['brand', 'list', '--database-url', 'ledger.sqlite']);
    expect(code).toBe(exitCodes.usage);
  });
});
