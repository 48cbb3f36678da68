/** The register host in production: two replicas on one database, HTTPS, figures, and wallets of the operator's tree. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { derivedWallets } from '../../src/identity/derived.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { postgresMissing, startPostgres, type TestPostgres } from '../kits/databases/databases.ts';
import {
  brandId,
  type ProductionKit,
  prepareLedger,
  type Started,
  startProduction,
  startProductionKit,
} from '../kits/service/production.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const HTTPS = { 'content-type': 'application/json', 'x-forwarded-proto': 'https' };
const account = (id: number) => ({
  brand_id: brandId,
  oauth_provider: 'discord',
  oauth_user_id: String(10n ** 17n + BigInt(id)),
  oauth_username: `user ${id}`,
});

// A network each, since one address may have few new wallets.
const from = (n: number) => ({ ...HTTPS, 'x-forwarded-for': `2001:db8:0:${n.toString(16)}::1` });

describe.skipIf(postgresMissing())('two replicas', () => {
  let kit: ProductionKit;
  let postgres: TestPostgres;
  const replicas: Started[] = [];
  beforeAll(async () => {
    [kit, postgres] = await Promise.all([startProductionKit(), startPostgres()]);
    const database = openPostgres(postgres.url);
    await prepareLedger(database);
    await database.close();
    for (let n = 0; n < 2; n++) replicas.push(await startProduction(kit.environment(postgres.url)));
  });
  afterAll(async () => {
    for (const replica of replicas) await replica.stop('SIGKILL');
    await kit?.stop();
    await postgres?.stop();
  });

  const ask = (id: number, { through = 0, headers = HTTPS as Record<string, string> } = {}) => {
    const replica = replicas[through % replicas.length];
    if (!replica) throw new Error('there is no replica');
    return replica.api('/pregenerate-user', { method: 'POST', headers, body: JSON.stringify(account(id)) });
  };

  test('of 500 calls for one identity, through both, one makes the wallet', async () => {
    const answers = await Promise.all(
      Array.from({ length: 500 }, (_, n) => ask(1, { through: n, headers: from(n) })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.wallet_address)).size).toBe(1);
    expect(answers.filter(({ body }) => body.created_new)).toHaveLength(1);
    const places = Array.from({ length: 10 }, (_, index) => derivedWallets(kit.walletsXpub).addressAt(index));
    expect(places).toContain(answers[0]?.body.wallet_address);
  });

  test('of 150 new identities, through both, a hundred in all get a wallet', async () => {
    const answers = await Promise.all(
      Array.from({ length: 150 }, (_, n) => ask(100 + n, { through: n, headers: from(n) })),
    );
    // One was made above, within the same minute.
    const made = answers.filter(({ status }) => status === 200);
    expect(made.length).toBeLessThanOrEqual(100);
    expect(made.length).toBeGreaterThanOrEqual(99);
    expect(new Set(made.map(({ body }) => body.wallet_address)).size).toBe(made.length);
    const refused = answers.filter(({ status }) => status === 429);
    expect(made.length + refused.length).toBe(150);
    for (const { headers } of refused) {
      expect(headers.get('x-ratelimit-remaining')).toBe('0');
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  test('plain HTTP is refused, and the route has figures of its own', async () => {
    const plain = await ask(1, { headers: { 'content-type': 'application/json' } });
    expect([plain.status, plain.body.error]).toEqual([403, 'HTTPS required']);
    const route = 'method="POST",route="/rewards-api/pregenerate-user"';
    expect(await replicas[0]?.metric(`rewards_http_requests_total{${route},status="403"}`)).toBe(1);
    expect(await replicas[0]?.metric(`rewards_http_requests_total{${route},status="200"}`)).toBeGreaterThan(
      200,
    );
  });
});
