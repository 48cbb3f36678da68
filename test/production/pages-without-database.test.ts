/** The operator's pages while Postgres is away: what they say then, what they still know, and that all comes back. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Database } from '../../src/ledger/database/database.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { addEndpoint } from '../../src/ledger/webhooks/endpoints.ts';
import { queueWebhookEvents } from '../../src/ledger/webhooks/queue-events.ts';
import { webhookBody } from '../../src/rules/webhook-body.ts';
import { createWebhookSecret } from '../../src/webhooks/signatures.ts';
import {
  type PostgresServer,
  serverMissing,
  startPostgresServer,
} from '../kits/databases/postgres-server.ts';
import { until } from '../kits/service/clock.ts';
import {
  brandId,
  type ProductionKit,
  prepareLedger,
  type Started,
  startProduction,
  startProductionKit,
} from '../kits/service/production.ts';
import { browserMissing, startBrowser } from '../kits/site/browser.ts';
import { overflowOf } from '../kits/site/console.ts';
import { violationsOn } from '../kits/site/readable.ts';
import { startTcpProxy, type TcpProxy } from '../reliability/processes/tcp-proxy.ts';

// Each starts several processes of the real program.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const CODE = 'PERK-7F3A-91C2';
const AWAY = 'The database is not reachable';

describe.skipIf(serverMissing() !== undefined)('Postgres goes away', () => {
  let kit: ProductionKit;
  let postgres: PostgresServer;
  let proxy: TcpProxy;
  let database: Database;
  let service: Started;
  /** Another process of the same deployment, which has a lane that the first has no key of. */
  let other: Started;
  const env = (url: string, change = {}) => kit.environment(url, { REWARDS_IN_FLIGHT_MAX: '16', ...change });

  beforeAll(async () => {
    [kit, postgres] = await Promise.all([startProductionKit(), startPostgresServer()]);
    const { hostname: host, port } = new URL(postgres.url);
    proxy = await startTcpProxy({ host, port: Number(port) });
    database = openPostgres(postgres.url);
    await prepareLedger(database);
    service = await startProduction(env(postgres.url, { REWARDS_MINT_KEY: undefined }));
    other = await startProduction(env(proxy.urlOf(postgres.url)));
    expect((await service.event({ brandId, userEmail: 'carol@shop.example' })).status).toBe(200);
    await toldOfRedemption();
  });
  afterAll(async () => {
    for (const one of [service, other]) if (one?.child.exitCode === null) await one.stop('SIGKILL');
    await database?.close().catch(() => undefined);
    await proxy?.stop();
    await Promise.all([postgres?.stop(), kit?.stop()]);
  });

  /** A webhook of a redemption, as the service queues it, to an endpoint that is not there. */
  async function toldOfRedemption() {
    await addEndpoint(database.db, {
      id: 'we_gone',
      url: 'https://gone.invalid/hook',
      brandId,
      types: [],
      isDefault: false,
      secret: createWebhookSecret({ bytes: (count) => new Uint8Array(count).fill(7) }),
      createdAt: 0,
    });
    const facts = {
      userEmail: 'carol@shop.example',
      perkId: 'perk_1',
      perkName: 'Tote bag',
      redemptionCode: CODE,
      timestamp: 1_700_000_000_000,
    };
    const body = webhookBody({ id: 'evt_redeemed', event: { type: 'perk.redeemed', facts } });
    const event = { id: 'evt_redeemed', brandId, type: 'perk.redeemed' as const, subject: 'rdm_1', body };
    await queueWebhookEvents(database.db, [event], database.now);
  }

  const look = async (path: string, of = service) => {
    const answer = await fetch(of.ready.urls.admin + path, { redirect: 'manual' });
    return { status: answer.status, text: await answer.text() };
  };
  const console = (path: string) => `/_rewards/console${path}`;
  /** Every kind of page that an operator has. */
  const paths = async () => {
    // Traces are written a moment after the answer.
    let id: string | undefined;
    await until('the request is listed', async () => {
      id = /req_[0-9a-f]+/.exec((await look(console('/requests'))).text)?.[0];
      return id !== undefined;
    });
    const webhooks = ['/webhooks', '/webhooks/evt_redeemed', '/webhooks/endpoints/we_gone'].map(console);
    return ['/_rewards/', console('/requests'), console(`/requests/${id}`), ...webhooks, console('/relay')];
  };
  const secrets = () =>
    new RegExp(
      [
        'postgres:',
        ...[postgres.url, kit.anvil.url].map((url) => new URL(url).host),
        ...Object.values(kit.keys),
        'carol',
        CODE,
        String.raw`\n\s+at `,
        'Error:',
        'select "',
      ].join('|'),
    );

  test('who runs is shown with its lanes, and codes of redemptions are covered', async () => {
    const rowsOf = (text: string) =>
      /<section id="replicas".*?<\/section><\/section>/s.exec(text)?.[0].split('<tr>').slice(2) ?? [];
    await until(
      'both processes hold lanes',
      async () => rowsOf((await look('/_rewards/')).text).length === 2,
    );
    const rows = rowsOf((await look('/_rewards/')).text);
    expect(rows.filter((row) => row.includes('this process'))).toHaveLength(1);
    expect(rows.find((row) => row.includes('this process'))).toContain('payout');
    expect(rows.find((row) => !row.includes('this process'))).toContain('mint');
    // As the log names it, so that its lines can be found.
    const { process: name } = service.logLines()[0] ?? {};
    expect(rows.find((row) => row.includes('this process'))).toContain(name);
    // A lease of ten seconds is renewed when half of it is over, and answers are shared for a second.
    for (const row of rows) expect(row).toMatch(/<time [^>]*>(?:now|[1-9]s ago)</);

    const { status, text } = await look(console('/webhooks/evt_redeemed'));
    expect([status, text.includes(CODE), text.includes('carol')]).toEqual([200, false, false]);
    expect(text).toContain('&quot;redemptionCode&quot;: &quot;•••&quot;');
    expect(text).toContain('Tote bag');
  });

  test('a server that is stopped: each page says so, with what to do, and what was seen last', async () => {
    const all = await paths();
    for (const path of all) expect([path, (await look(path)).status]).toEqual([path, 200]);
    await postgres.halt();
    try {
      await until('readyz says so', async () => (await service.admin('/readyz')).status === 503);
      for (const path of [...all, console('/requests?status=500')]) {
        // Answers are shared for a second.
        await until(`${path} says so`, async () => (await look(path)).text.includes(AWAY));
        const { status, text } = await look(path);
        expect([path, status]).toEqual([path, 200]);
        for (const said of ['it noticed <time', 'answered 503', 'Nothing that was granted is lost'])
          expect(text).toContain(said);
        for (const known of [
          'docs/operations.md',
          'Needs a look',
          'version',
          'chain node 2',
          'Gas money',
          'not known to be away',
        ])
          expect(text).toContain(known);
        expect(text).toMatch(/<code>(?:ECONNREFUSED|57P01|57P03)<\/code>/);
        expect(text).toContain('http-equiv="refresh"');
        expect(text).not.toMatch(secrets());
      }
      const overview = (await look('/_rewards/')).text;
      expect(overview).toContain('All below is old');
      expect(overview).toContain('5 RWT in 1 reward');
      expect((await look(console('/requests'))).text).toContain('form_submit');
      expect((await look(console('/requests?status=500'))).text).toContain('no earlier figures');
    } finally {
      await postgres.goOn();
    }
    await until('the database is back', async () => (await service.admin('/readyz')).status === 200);
    for (const path of all) {
      const { status, text } = await look(path);
      expect([path, status, text.includes(AWAY), text.includes('http-equiv')]).toEqual([
        path,
        200,
        false,
        false,
      ]);
    }
    expect(service.log()).not.toContain('a request failed');
  });

  test('a network that says nothing: the page comes in time, also as the first one of its process', async () => {
    proxy.silence(true);
    try {
      const { status, text } = await look('/_rewards/', other);
      expect(status).toBe(200);
      expect(text).toMatch(/The database (?:is not reachable|does not answer)/);
      expect(text).toContain('no earlier figures');
    } finally {
      proxy.silence(false);
    }
    await until('it is back', async () => (await look('/_rewards/', other)).text.includes('Replicas'));
  });

  describe.skipIf(browserMissing() !== undefined)('in a browser', () => {
    test('an open page turns by itself, and back', async () => {
      const browser = await startBrowser({ hosts: [] });
      try {
        const { context } = await browser.visitor({ viewport: { width: 360, height: 740 } });
        const page = await context.newPage();
        await page.goto(`${service.ready.urls.admin}/_rewards/`);
        await page.getByRole('heading', { name: 'Replicas' }).waitFor();
        await postgres.halt();
        try {
          await page.getByRole('heading', { name: AWAY }).waitFor();
          expect(await page.title()).toContain(AWAY);
          expect(await overflowOf(page)).toBe(0);
          expect(await violationsOn(page)).toEqual([]);
        } finally {
          await postgres.goOn();
        }
        await page.getByRole('heading', { name: 'Replicas' }).waitFor();
        expect(await page.getByRole('heading', { name: AWAY }).count()).toBe(0);
        expect(await page.title()).toContain('Overview');
        await context.close();
      } finally {
        await browser.stop();
      }
    });
  });
});
