/** The emulator's receiver of webhooks: what it keeps, what it thinks of signatures, and who may use it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createInbox } from '../../src/emulator/control/inbox.ts';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { addEndpoint, changeEndpoint } from '../../src/ledger/webhooks/endpoints.ts';
import { secureRandom } from '../../src/lib/ids.ts';
import { signedHeaders } from '../../src/webhooks/signatures.ts';
import { rewards, rewardsJson, startHere } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import { startTestService, type TestService } from '../kits/service/service.ts';

let service: TestService;
let inbox: string;
beforeAll(async () => {
  service = await startTestService();
  inbox = `${service.ready.urls.control}/inbox`;
});
afterAll(() => service.stop());

const deliver = (body: string, init: { headers?: Record<string, string>; path?: string } = {}) =>
  fetch(`${inbox}${init.path ?? ''}`, { method: 'POST', body, headers: init.headers ?? {} });
const list = async (query = '') => (await service.request(`${inbox}${query}`)).body.deliveries;
const at = () => ['--target', service.ready.urls.events];
const around = () => ({ env: { REWARDS_CONTROL_TOKEN: service.ready.controlToken } });

describe('it keeps', () => {
  test('a body as it came, as JSON and as text, with the headers and the time by the clock', async () => {
    const text = '{ "type" : "reward.distributed", "n": 1.50, "who": "Grüße 🎉" }\n';
    const answer = await deliver(text, { headers: { 'Webhook-Id': 'evt_kept' } });
    expect([answer.status, await answer.json()]).toEqual([200, { received: true }]);
    const [latest] = await list('?limit=1');
    expect(latest).toEqual({
      id: expect.stringMatching(/^in_[0-9a-f-]{36}$/),
      receivedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      brandId: service.brand.brandId,
      headers: expect.objectContaining({ 'webhook-id': 'evt_kept' }),
      body: { type: 'reward.distributed', n: 1.5, who: 'Grüße 🎉' },
      rawBody: text,
      signature: { valid: false, bare: 'absent', timestamped: 'absent', standard: 'absent' },
    });
  });

  test.each([
    ['nothing', ''],
    ['text', 'no JSON'],
    ['a list', '[1]'],
  ])('%s as well', async (_, text) => {
    expect((await deliver(text)).status).toBe(200);
    const [{ body, rawBody }] = await list('?limit=1');
    expect({ body, rawBody }).toEqual({ body: text === '[1]' ? [1] : null, rawBody: text });
  });

  test('the newest first, and tells which came after another', async () => {
    for (const n of [1, 2, 3]) await deliver(String(n));
    const [third, second, first] = await list('?limit=3');
    expect([third, second, first].map(({ body }) => body)).toEqual([3, 2, 1]);
    expect((await list(`?after=${first.id}`)).map(({ id }: { id: string }) => id)).toEqual([
      third.id,
      second.id,
    ]);
    expect(await list(`?after=${third.id}`)).toEqual([]);
  });
});

describe('its verdict is by the secret of the endpoint that has the address', () => {
  const NOW_MS = 1_767_614_400_000;
  const url = 'http://127.0.0.1:8787/_rewards/inbox';
  const [secret, next, stranger] = ['A', 'B', 'C'].map((letter) => `whsec_${letter.repeat(43)}=`) as [
    ...[string, string, string],
  ];
  const body = new TextEncoder().encode('{"type":"reward.distributed"}');
  const brandIds = [1, 2].map((n) => `0x${String(n).repeat(40)}` as const);
  const database = openSqlite(':memory:');
  const receiver = createInbox({
    database,
    // Moved a year ahead.
    clock: { now: () => NOW_MS + 365 * 86_400_000, sleep: async () => {} },
    realClock: { now: () => NOW_MS },
    random: secureRandom({ now: () => NOW_MS }),
  });
  beforeAll(async () => {
    await migrate(database);
    for (const [place, endpoint] of [
      { secret: stranger },
      { secret: next, previousSecret: secret },
    ].entries()) {
      const brandId = brandIds[place] ?? '0x';
      const about = { id: `we_${place}`, brandId, url, types: [], isDefault: true, createdAt: NOW_MS };
      await addEndpoint(database.db, { ...about, ...endpoint });
      await changeEndpoint(database.db, about.id, endpoint);
    }
  });
  afterAll(() => database.close());

  /** What the receiver says of a message that was signed so long ago. */
  async function judged(
    secrets: Pick<Parameters<typeof signedHeaders>[0], 'secret' | 'previousSecret'>,
    { ageSeconds = 0, to = url }: { ageSeconds?: number; to?: string } = {},
  ) {
    const timestampSeconds = NOW_MS / 1_000 - ageSeconds;
    const signed = signedHeaders({ ...secrets, id: 'evt_1', timestampSeconds, body });
    const headers = Object.fromEntries(
      Object.entries(signed).map(([name, text]) => [name.toLowerCase(), text]),
    );
    await receiver.receive({ url: to, headers, body });
    const [{ brandId, signature } = {}] = receiver.list({ limit: 1 });
    return { brandId, signature };
  }
  const all = (verdict: string) => ({ bare: verdict, timestamped: verdict, standard: verdict });

  test.each([
    ['the one', { secret: next }, 1],
    ['the one that it replaces', { secret }, 1],
    ['both', { secret: next, previousSecret: secret }, 1],
    ["another brand's", { secret: stranger }, 0],
  ])('valid by %s', async (_, secrets, place) => {
    expect(await judged(secrets)).toEqual({
      brandId: brandIds[place],
      signature: { valid: true, ...all('valid') },
    });
  });

  test('wrong by a secret that no endpoint has', async () => {
    const { signature } = await judged({ secret: `whsec_${'D'.repeat(43)}=` });
    expect(signature).toEqual({ valid: false, ...all('wrong') });
  });

  test('too old by the clock of the machine, wherever that of the emulator is', async () => {
    const { signature } = await judged({ secret: next }, { ageSeconds: 400 });
    expect(signature).toEqual({ valid: false, ...all('too old'), bare: 'valid' });
  });

  test('a thousand are kept at most', async () => {
    for (let n = 0; n < 1_010; n++) await receiver.receive({ url, headers: {}, body });
    expect(receiver.list({ limit: 2_000 })).toHaveLength(1_000);
  });

  test("nobody's at an address that no endpoint has", async () => {
    expect(await judged({ secret: next }, { to: `${url}?of=nobody` })).toEqual({
      brandId: null,
      signature: null,
    });
  });
});

describe('who may use it', () => {
  test('everybody may deliver, and looking needs the token', async () => {
    expect((await fetch(inbox)).status).toBe(401);
    expect((await fetch(inbox, { method: 'DELETE' })).status).toBe(401);
    expect((await fetch(`${service.ready.urls.control}/clock`, { method: 'POST' })).status).toBe(401);
  });

  test('pages of other sites may not deliver', async () => {
    const answer = await deliver('{}', { headers: { origin: 'https://elsewhere.example' } });
    expect(answer.status).toBe(403);
  });

  test.each(['0', '501', 'x'])('limit=%s is refused', async (limit) => {
    const { status, body } = await service.request(`${inbox}?limit=${limit}`);
    expect([status, body.message]).toEqual([400, 'Use limit=1..500.']);
  });
});

describe('rewards webhooks inbox', () => {
  test('prints deliveries, as lines and as JSON', async () => {
    const text = JSON.stringify({
      type: 'reward.distributed',
      data: { userEmail: 'alice@demo.example', amount: 100, transactionHash: `0x${'ab'.repeat(32)}` },
    });
    await deliver(text, { headers: { 'webhook-id': 'evt_shown' } });
    const { stdout, code } = await rewards(['webhooks', 'inbox', '-n', '1', ...at()], around());
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^\d\d:\d\d:\d\d {2}reward\.distributed {2}evt_shown {2}alice@demo\.example {2}\+100 RWT {2}tx 0xabab… {2}X-Service-Signature absent, X-Service-Signature-Timestamped absent, webhook-signature absent\n$/,
    );
    const { envelope } = await rewardsJson(['webhooks', 'inbox', '-n', '1', ...at()], around());
    expect(envelope.data.deliveries).toEqual([
      expect.objectContaining({ rawBody: text, body: JSON.parse(text), receivedAt: expect.any(String) }),
    ]);
  });

  test('--follow prints what comes until it is stopped', async () => {
    const run = startHere(['webhooks', 'inbox', '--follow', '-n', '0', '-o', 'jsonl', ...at()], around());
    const seen = () =>
      run
        .stdout()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    // The first delivery after its first look is the first that it prints.
    await until('a delivery is seen', async () => {
      await deliver('"again"');
      return seen().length > 0;
    });
    await deliver('"last"');
    await until('the last one is seen', () => seen().at(-1)?.body === 'last');
    expect(seen().every(({ type }) => type === 'delivery')).toBe(true);
    run.signal('SIGINT');
    expect(await run.ended).toBe(0);
  });
});
