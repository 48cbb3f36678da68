/** Webhook endpoints on a production ledger, without a service: the same commands with the database's address. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { postgresMissing, startPostgres, type TestPostgres } from '../kits/databases/databases.ts';
import { rewardsJson } from '../kits/service/cli.ts';

const brandId = `0x${'5a'.repeat(20)}`;
const url = 'https://shop.example/hooks/rewards';

describe.skipIf(postgresMissing())('a production ledger', () => {
  let postgres: TestPostgres;
  const on = (...args: string[]) => rewardsJson([...args, '--database-url', postgres.url]);
  beforeAll(async () => {
    postgres = await startPostgres();
    const database = openPostgres(postgres.url);
    await migrate(database);
    await database.close();
    await on('brand', 'create', brandId, '--brand-name', 'Shop', '--domain', 'shop.example');
  });
  afterAll(() => postgres.stop());

  test('brand set --webhook-url makes the default endpoint, tells its secret once, and changes it later', async () => {
    const first = await on('brand', 'set', 'shop.example', '--webhook-url', url);
    expect(first.code).toBe(0);
    expect(first.envelope.data.body).toMatchObject({ brandId, url, isDefault: true, enabled: true });
    expect(first.envelope.data.body.secret).toMatch(/^whsec_/);
    const second = await on('brand', 'set', 'shop.example', '--webhook-url', `${url}/2`);
    expect(second.envelope.data.body).toMatchObject({ id: first.envelope.data.body.id, url: `${url}/2` });
    expect(second.envelope.data.body.secret).toBeUndefined();
    const { endpoints } = (await on('webhooks', 'endpoints', 'list')).envelope.data.body;
    expect(endpoints).toHaveLength(1);
    expect((await on('webhooks', 'deliveries', 'list')).envelope.data.body).toEqual({ deliveries: [] });
  });

  test('an endpoint needs no brand where there is one, and names one where there are two', async () => {
    const add = (...args: string[]) => on('webhooks', 'endpoints', 'add', ...args);
    const only = await add(`${url}/only`, '--types', 'reward.distributed');
    expect([only.code, only.envelope.data.body]).toMatchObject([0, { brandId, url: `${url}/only` }]);
    const none = await add();
    expect([none.code, none.envelope.error.message]).toEqual([2, 'The URL is missing.']);
    const second = `0x${'6b'.repeat(20)}`;
    await on('brand', 'create', second, '--brand-name', 'Other', '--domain', 'other.example');
    const refused = await add(`${url}/which`);
    expect([refused.code, refused.envelope.error.hint ?? refused.envelope.error.fix]).toEqual([
      1,
      'brand must be the id or a domain of a brand, since there is more than one, or none',
    ]);
    const named = await add('other.example', `${url}/named`);
    expect(named.envelope.data.body).toMatchObject({ brandId: second, url: `${url}/named` });
  });

  test('a port that the operator allows is taken', async () => {
    const added = await rewardsJson(
      [
        'webhooks',
        'endpoints',
        'add',
        'shop.example',
        'https://shop.example:8443/hook',
        '--database-url',
        postgres.url,
      ],
      { env: { REWARDS_OUTGOING_PORT: '8443' } },
    );
    expect(added.envelope.data.body.url).toBe('https://shop.example:8443/hook');
  });

  test('a URL is kept as requests go there, without the line breaks and spaces in it', async () => {
    const odd = ' https://SHOP.example/a\r\nX-A:\tb c ';
    const { envelope } = await on('webhooks', 'endpoints', 'add', 'shop.example', odd);
    const { id, url: kept } = envelope.data.body;
    expect(kept).toBe('https://shop.example/aX-A:b%20c');
    const changed = await on('webhooks', 'endpoints', 'set', id, 'url=https://shop.example/\nhook');
    expect(changed.envelope.data.body.url).toBe('https://shop.example/hook');
  });

  test.each([
    ['http://shop.example/hook', 'is not HTTPS'],
    ['https://127.0.0.1/hook', 'not public'],
    ['https://10.0.0.1/hook', 'not public'],
    ['https://user:secret@shop.example/', 'user name or password'],
    ['https://shop.example:22/hook', 'has the port 22, which is not 443'],
  ])('%s is refused', async (bad, text) => {
    const { code, envelope } = await on('webhooks', 'endpoints', 'add', 'shop.example', bad);
    expect([code, envelope.error.hint ?? envelope.error.fix]).toEqual([1, expect.stringContaining(text)]);
    expect(JSON.stringify(envelope)).not.toContain('user:secret');
  });
});
