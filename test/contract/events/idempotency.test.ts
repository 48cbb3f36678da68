/** Idempotency-Key on manual-event: the first answer again, word for word. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { someone } from '../../kits/service/service.ts';
import {
  API,
  bearer,
  type ContractService,
  onEachDatabase,
  open,
  poor,
  shop,
  startContractService,
} from '../kit.ts';

let keys = 0;
const newKey = () => `key-${process.pid}-${++keys}`;

/** The exact text of an answer. */
async function textOf(service: ContractService, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${service.ready.urls.events}${API}/manual-event`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
const event = (fields: Record<string, unknown> = {}) => ({
  brandId: shop.brandId,
  domain: shop.domain,
  eventType: 'once',
  userEmail: someone(),
  ...fields,
});

onEachDatabase('Idempotency-Key', (get) => {
  test.each(['header', 'body'])(
    'in the %s: same key, same body: the same bytes, and one reward',
    async (where) => {
      const key = newKey();
      const body = event(where === 'body' ? { idempotencyKey: key } : {});
      const headers: Record<string, string> = where === 'header' ? { 'idempotency-key': key } : {};
      const first = await textOf(get(), body, headers);
      expect(first.status).toBe(200);
      for (let time = 0; time < 3; time++) {
        const again = await textOf(get(), body, headers);
        expect([again.status, again.text]).toEqual([200, first.text]);
      }
      const { walletAddress } = JSON.parse(first.text);
      expect(await get().balanceOf(walletAddress)).toBe(10n);
      // Without the key it is an event like any other.
      expect((await textOf(get(), { ...body, idempotencyKey: undefined })).status).toBe(409);
    },
  );

  test('same key, other body: 409, and nothing happens', async () => {
    const headers = { 'idempotency-key': newKey() };
    await textOf(get(), event(), headers);
    const other = event();
    const answer = await textOf(get(), other, headers);
    expect(answer.status).toBe(409);
    expect(JSON.parse(answer.text).details.reason).toBe('idempotency_key_reused');
    expect((await textOf(get(), other)).status).toBe(200);
  });

  test('many at once with one key: one reward, and the same answer for all', async () => {
    const headers = { 'idempotency-key': newKey() };
    const body = event({ eventType: 'endless' });
    const answers = await Promise.all(Array.from({ length: 20 }, () => textOf(get(), body, headers)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
    expect(await get().balanceOf(JSON.parse(answers[0]?.text ?? '').walletAddress)).toBe(10n);
  });

  test('keys of different brands are different keys', async () => {
    const headers = { 'idempotency-key': newKey() };
    expect((await textOf(get(), event(), headers)).status).toBe(200);
    const ofOpen = event({ brandId: open.brandId, domain: open.domain });
    expect((await textOf(get(), ofOpen, headers)).status).toBe(200);
  });

  test('a refusal uses no key up: the same request passes once its time has come', async () => {
    const userEmail = someone();
    await textOf(get(), event({ eventType: 'endless', userEmail }));
    const headers = { 'idempotency-key': newKey() };
    const body = event({ eventType: 'endless', userEmail });
    expect((await textOf(get(), body, headers)).status).toBe(409);
    await get().advance('61s');
    const paid = await textOf(get(), body, headers);
    expect(paid.status).toBe(200);
    expect(await textOf(get(), body, headers)).toMatchObject({ status: 200, text: paid.text });
  });

  test("strangers can neither block the brand's keys nor answer for them", async () => {
    const key = { 'idempotency-key': newKey() };
    const ours = { ...bearer(shop), ...key };
    const body = event();
    expect((await textOf(get(), event({ domain: 'evil.example' }), key)).status).toBe(403);
    expect((await textOf(get(), body, { ...key, origin: 'https://evil.example' })).status).toBe(403);
    // Rewarded, for somebody else, by a caller who writes the domain of the shop.
    expect((await textOf(get(), event(), key)).status).toBe(200);
    const paid = await textOf(get(), body, ours);
    expect(paid.status).toBe(200);
    expect((await textOf(get(), body, ours)).text).toBe(paid.text);
    // The same body from a page and from nowhere: each has its own answer, and there is one reward.
    expect((await textOf(get(), body, { ...key, origin: `https://${shop.domain}` })).status).toBe(409);
    expect((await textOf(get(), body, key)).status).toBe(409);
  });

  test('Retry-After is on a keyed 429 like on any other', async () => {
    const userEmail = someone();
    await textOf(get(), event({ userEmail }));
    await get().advance('61s');
    const answer = await textOf(get(), event({ userEmail }), { 'idempotency-key': newKey() });
    expect(answer.status).toBe(429);
    const { remainingSeconds } = JSON.parse(answer.text).details;
    expect(answer.headers.get('retry-after')).toBe(String(remainingSeconds));
  });

  test('fields that are wrong use no key up', async () => {
    const headers = { 'idempotency-key': newKey() };
    expect((await textOf(get(), event({ eventType: '-' }), headers)).status).toBe(400);
    expect((await textOf(get(), event(), headers)).status).toBe(200);
  });

  test('a failure of ours is not kept: the same request passes once it can', async () => {
    const headers = { 'idempotency-key': newKey(), ...bearer(poor) };
    const body = event({ brandId: poor.brandId, domain: poor.domain, eventType: 'dear' });
    expect((await textOf(get(), body, headers)).status).toBe(500);
    const { ready, request } = get();
    const cheaper = await request(`${ready.urls.control}/brands/${poor.brandId}/rules/dear`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${ready.controlToken}` },
      body: JSON.stringify({ reward: 1 }),
    });
    expect(cheaper.status).toBe(200);
    expect((await textOf(get(), body, headers)).status).toBe(200);
  });

  test.each([
    ['empty counts as none', '', 200],
    ['255 characters', 'k'.repeat(255), 200],
    ['256 characters', 'k'.repeat(256), 400],
    ['a blank in it', 'a b', 400],
    ['a letter outside ASCII', 'clé', 400],
    ['a number', 5, 400],
    ['an object', {}, 400],
    ['null counts as none', null, 200],
  ])('a key that is %s', async (_, idempotencyKey, status) => {
    expect((await textOf(get(), event({ idempotencyKey }))).status).toBe(status);
  });
});

test('after a restart the first answer still stands', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'rewards-keys-'));
  const headers = { 'idempotency-key': newKey() };
  const body = event();
  const before = await startContractService({ dataDir, ephemeral: false });
  const first = await textOf(before, body, headers);
  await before.stop();
  const after = await startContractService({ dataDir, ephemeral: false });
  const again = await textOf(after, body, headers);
  expect([again.status, again.text]).toEqual([200, first.text]);
  expect(await after.balanceOf(JSON.parse(first.text).walletAddress)).toBe(10n);
  await after.stop();
  await rm(dataDir, { recursive: true, force: true });
});
