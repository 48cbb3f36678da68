/** Looking back on production's requests: a line of the log for each, and `rewards requests` on its database. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { RequestTrace } from '../../src/http/frame/request-record.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { listRequestTraces } from '../../src/ledger/request-traces.ts';
import { createTraceShare, SAMPLED_ABOVE } from '../../src/production/requests/request-traces.ts';
import { postgresMissing, startPostgres } from '../kits/databases/databases.ts';
import { rewards, rewardsJson } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import {
  brandId,
  type ProductionKit,
  prepareLedger,
  sqliteLedger,
  startProduction,
  startProductionKit,
} from '../kits/service/production.ts';

// Each starts processes of the real program.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const kinds = [
  {
    kind: 'SQLite',
    async open(kit: ProductionKit) {
      return { url: await sqliteLedger(kit.folder, 'traces'), stop: async () => {} };
    },
  },
  {
    kind: 'Postgres',
    async open() {
      const postgres = await startPostgres();
      const database = openPostgres(postgres.url);
      await prepareLedger(database);
      await database.close();
      return postgres;
    },
  },
].filter(({ kind }) => kind === 'SQLite' || !postgresMissing());

describe.each(kinds)('on $kind', ({ open }) => {
  let kit: ProductionKit;
  let ledger: { url: string; stop: () => Promise<void> };
  let env: Record<string, string>;
  beforeAll(async () => {
    kit = await startProductionKit();
    ledger = await open(kit);
    env = kit.environment(ledger.url, { REWARDS_ALLOW_SQLITE: 'true' });
  });
  afterAll(async () => {
    await ledger.stop();
    await kit.stop();
  });

  test('why was it refused yesterday: by the id of the answer, without anybody’s e-mail', async () => {
    const service = await startProduction(env);
    const paid = await service.event({ brandId, userEmail: 'Carol@shop.example' });
    const again = await service.event({ brandId, userEmail: 'carol@shop.example' });
    const wrong = await service.event({ brandId, userEmail: 'carol@shop.example', eventType: 'nothing' });
    expect([paid.status, again.status, wrong.status]).toEqual([200, 409, 400]);
    const ids = [paid, again, wrong].map(({ headers }) => headers.get('x-request-id') ?? '');
    await service.stop();

    const lines = service.logLines().filter(({ message }) => message === 'request');
    expect(lines).toMatchObject([
      { level: 'info', request: ids[0], status: 200, decision: 'rewarded', brand: brandId },
      { request: ids[1], status: 409, decision: 'duplicate', route: '/rewards-api/manual-event' },
      { request: ids[2], status: 400, decision: 'event_not_found', ms: expect.any(Number) },
    ]);
    const [{ user }] = lines;
    expect(user).toMatch(/^user_[0-9a-f]{16}$/);
    expect(lines.map((line) => line.user)).toEqual([user, user, user]);

    const listed = await rewardsJson(['requests', 'list', '--status', '409'], { env });
    expect(listed.envelope.data.body.requests).toMatchObject([{ id: ids[1], decision: 'duplicate', user }]);
    const ofUser = await rewardsJson(['requests', 'list', '--user', 'carol@shop.example'], { env });
    expect(ofUser.envelope.data.body.requests.map(({ id }: { id: string }) => id)).toEqual(
      [...ids].reverse(),
    );
    const other = await rewardsJson(['requests', 'list', '--user', 'dave@shop.example'], { env });
    expect(other.envelope.data.body.requests).toEqual([]);

    const explained = await rewards(['requests', 'explain', (ids[1] ?? '').slice(0, 14)], { env });
    expect(explained.code).toBe(0);
    expect(explained.stdout).toMatch(/duplicate +REFUSED +event .* was accepted less than 1m ago/);
    const shown = await rewardsJson(['requests', 'show', ids[0] ?? ''], { env });
    expect(shown.envelope.data.body).toMatchObject({ requestBody: null, responseBody: null, status: 200 });
    // The answer's body is not kept: where the reward is now comes from the ledger.
    const { eventId, transactionHash } = paid.body;
    expect(shown.envelope.data.body.explained).toMatchObject([
      {
        eventId,
        reward: { eventId, transactionHash, status: expect.stringMatching(/^(sent|included|final)$/) },
      },
    ]);
    const missing = await rewards(['requests', 'show', 'req_ffffffffffffffffffff'], { env });
    expect(missing.code).toBe(1);

    const ofEvents = await rewardsJson(['requests', 'list', '--host', 'events'], { env });
    expect(ofEvents.envelope.data.body.requests.length).toBeGreaterThanOrEqual(3);
    const decided = async (...more: string[]) =>
      (await rewardsJson(['requests', 'list', ...more], { env })).envelope.data.body.requests.map(
        ({ id }: { id: string }) => id,
      );
    expect(await decided('--decision', 'duplicate')).toEqual([ids[1]]);
    expect(await decided('--brand', brandId, '--decision', 'rewarded')).toEqual([ids[0]]);
    expect(await decided('--brand', `0x${'9'.repeat(40)}`)).toEqual([]);
    const ofRelay = await rewardsJson(['requests', 'list', '--host', 'relay'], { env });
    expect(ofRelay.envelope.data.body.requests).toEqual([]);
    expect(shown.envelope.data.body).toMatchObject({
      host: 'events',
      credential: null,
      requestHeaders: {},
      requestBodyKept: 'not kept',
    });
    const compared = await rewardsJson(['requests', 'diff', ids[0] ?? '', ids[1] ?? ''], { env });
    expect(compared.envelope.data.differences).toContainEqual({ path: 'status', a: 200, b: 409 });
    // Without its body no request can be sent again.
    for (const again of [['replay'], ['show', '--as', 'curl'], ['show', '--as', 'http']]) {
      const [verb = '', ...more] = again;
      const refused = await rewardsJson(['requests', verb, ids[0] ?? '', ...more], { env });
      expect(refused).toMatchObject({
        code: 5,
        envelope: {
          error: { code: 'E_NOT_REPLAYABLE', message: expect.stringContaining('Production keeps no bodies') },
        },
      });
    }
    // Nor in the rows themselves, which backups have.
    const database = ledger.url.startsWith('sqlite:')
      ? openSqlite(ledger.url.slice(7))
      : openPostgres(ledger.url);
    const rows = await listRequestTraces(database.db, { status: '', limit: 100 });
    await database.close();
    expect(rows.length).toBeGreaterThanOrEqual(3);
    expect(JSON.stringify(rows)).not.toContain('@shop.example');
    for (const text of [service.log(), JSON.stringify([listed, ofUser, shown]), explained.stdout])
      expect(text.toLowerCase()).not.toContain('carol@');
  });

  test('an event that named an alias: whose alias it is, as hashes', async () => {
    const user = 'fred@shop.example';
    const alias = 'fred.old@shop.example';
    const linked = await rewardsJson(['brand', 'alias', 'shop.example', alias, user, '--allow-sqlite'], {
      env,
    });
    expect(linked.code).toBe(0);
    const service = await startProduction(env);
    const paid = await service.event({ brandId, userEmail: alias });
    const again = await service.event({ brandId, userEmail: user });
    expect([paid.status, again.status]).toEqual([200, 409]);
    await service.stop();
    const explained = async (request: typeof paid) => {
      const id = request.headers.get('x-request-id') ?? '';
      const { envelope } = await rewardsJson(['requests', 'explain', id], { env });
      return envelope.data.body.explained[0];
    };
    const [byAlias, byUser] = [await explained(paid), await explained(again)];
    expect(byAlias.aliasOf).toMatch(/^user_[0-9a-f]{16}$/);
    expect([byAlias.aliasOf, byUser.aliasOf]).toEqual([byUser.user, null]);
    expect(JSON.stringify(byAlias.checks)).toContain(`${byAlias.user} is an alias of ${byUser.user}`);
    expect(JSON.stringify([byAlias, byUser])).not.toContain('@shop.example');
  });

  test('of a bulk request, and of one with a strange origin, there is a row as well', async () => {
    const service = await startProduction(env);
    const url = new URL(`${service.ready.urls.events}/rewards-api/bulk-events`);
    const event = { brandId, eventType: 'form_submit', domain: 'shop.example' };
    const events = [1, 2, 3, 4, 5].map((n) => ({ ...event, userEmail: `bulk${n}@shop.example` }));
    const headers = { 'content-type': 'application/json', 'x-forwarded-proto': 'https' };
    const bulk = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ events }) });
    expect(await bulk.json()).toMatchObject({ processed: 5 });
    const strange = await service.event(
      { brandId, userEmail: 'erin@shop.example' },
      { origin: 'http://mail@shop.example/"x" 0x1' },
    );
    expect(strange.status).toBe(403);
    await service.stop();
    const [first, second] = [bulk, strange].map((one) => one.headers.get('x-request-id') ?? '');
    const { envelope } = await rewardsJson(['requests', 'list'], { env });
    const { requests } = envelope.data.body;
    expect(requests.slice(0, 2)).toMatchObject([
      { id: second, status: 403 },
      { id: first, events: 5 },
    ]);
    const shown = await rewardsJson(['requests', 'show', second ?? ''], { env });
    expect(shown.envelope.data.body.origin).toBe('http://[url]"x" 0x1');
    const ofBulk = await rewardsJson(['requests', 'show', first ?? ''], { env });
    expect(ofBulk.envelope.data.body.explained).toHaveLength(5);
    expect(JSON.stringify(ofBulk.envelope)).not.toContain('@shop.example');
  });

  test('requests are forgotten after their time', async () => {
    const before = await rewardsJson(['requests', 'list'], { env });
    expect(before.envelope.data.body.requests.length).toBeGreaterThan(0);
    const service = await startProduction({ ...env, REWARDS_TRACES_KEPT: '1ms' });
    await service.stop();
    const after = await rewardsJson(['requests', 'list'], { env });
    expect(after.envelope.data.body.requests).toEqual([]);
  });
});

describe('which requests a row is kept of', () => {
  const decision = { kind: 'event' } as RequestTrace;
  /** So many requests of one second, some with a decision, one that failed. */
  const second = (isKept: ReturnType<typeof createTraceShare>, count: number) =>
    Array.from({ length: count }, (_, n) =>
      isKept({
        // Spread over all shares.
        id: `req_${Math.floor((n * 65_536) / count)
          .toString(16)
          .padStart(20, '0')}`,
        status: n === count - 1 ? 500 : 200,
        traces: n % 2 ? [decision] : [],
      }),
    );
  const kept = (all: boolean[]) => all.filter(Boolean).length;

  test('all of them', () => {
    const isKept = createTraceShare('all', () => 0);
    for (let n = 0; n < 3; n++) expect(kept(second(isKept, 1_000))).toBe(1_000);
  });

  test('decisions, and what failed', () => {
    const isKept = createTraceShare('decisions', () => 0);
    expect(kept(second(isKept, 999))).toBe(500);
    expect(isKept({ id: 'req_1', status: 404, traces: [] })).toBe(false);
  });

  test('all up to a rate, of more a share that makes about as many, and what failed always', () => {
    let nowMs = 10_000;
    const isKept = createTraceShare('sampled', () => nowMs);
    expect(kept(second(isKept, SAMPLED_ABOVE))).toBe(SAMPLED_ABOVE);
    nowMs += 1_000;
    // How many come shows only at the end of a second.
    expect(kept(second(isKept, 1_000))).toBe(1_000);
    nowMs += 1_000;
    const sampled = second(isKept, 1_000);
    expect(kept(sampled)).toBeGreaterThanOrEqual(SAMPLED_ABOVE);
    expect(kept(sampled)).toBeLessThanOrEqual(SAMPLED_ABOVE + 2);
    expect(sampled.at(-1)).toBe(true);
    // A clock that is set back, and a quiet minute, begin anew.
    nowMs += 60_000;
    expect(kept(second(isKept, 50))).toBe(50);
  });
});

test('a database that is away costs no request its answer: what waits is bounded, and the rest is counted', async () => {
  const { createRequestTraces } = await import('../../src/production/requests/request-traces.ts');
  const { openSqlite } = await import('../../src/ledger/database/sqlite.ts');
  const { silentLog } = await import('../../src/lib/log.ts');
  // Without tables every statement fails.
  const database = openSqlite(':memory:');
  let dropped = 0;
  const traces = createRequestTraces(
    {
      database,
      log: silentLog,
      clock: { now: () => 0 } as never,
      userHash: (key) => key,
      onDropped: () => {
        dropped += 1;
      },
    },
    { keptMs: 1, keep: 'all', bodyLimitBytes: 1, duplicateWindowMs: 1 },
  );
  const record = {
    id: 'req_00',
    atMs: 0,
    method: 'GET',
    path: '/x',
    route: '/x',
    search: '',
    status: 200,
    durationMs: 1,
    origin: undefined,
    requestBody: undefined,
    responseBody: undefined,
    traces: [],
    host: 'events' as const,
    credential: undefined,
    headers: {},
    answerHeaders: {},
    bodyKept: 'not kept' as const,
  };
  for (let sent = 0; sent < 5_100; sent++) traces.observe(record);
  await until('the rest to be counted', () => dropped === 100);
  await traces.stop();
  await database.close();
});
