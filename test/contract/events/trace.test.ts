/** The decision trace of each request: which check failed, and when it passes. */
import { expect, test } from 'vitest';
import { someone } from '../../kits/service/service.ts';
import { API, bearer, onEachDatabase, paused, poor, shop } from '../kit.ts';

interface Check {
  name: string;
  outcome: string;
  text: string;
  passesAt?: string | null;
  or?: string;
}

const ORDER = [
  'body',
  'fields',
  'brand',
  'automation',
  'credential',
  'domain',
  'event',
  'channel',
  'duplicate',
  'cooldown',
  'max_claims',
  'max_total_claims',
  'spend_limit',
  'brand_funds',
];

onEachDatabase('the trace of a request', (get) => {
  const checksOf = async (answer: { headers: Headers }): Promise<Check[]> =>
    (await get().explain(answer)).explained[0].checks;
  const send = (fields: Record<string, unknown>, brand = shop) =>
    get().send(brand, { userEmail: someone(), ...fields });
  const twice = async (wait: string, eventType: string) => {
    const userEmail = someone();
    await get().send(shop, { userEmail, eventType });
    await get().advance(wait);
    return { userEmail, answer: await get().send(shop, { userEmail, eventType }) };
  };

  const never: [string, () => ReturnType<typeof send>, string, RegExp][] = [
    [
      'a body that is too large',
      () => get().post(`${API}/manual-event`, 'x'.repeat(10_241)),
      'body',
      /10240/,
    ],
    ['a body that is no JSON', () => get().post(`${API}/manual-event`, '{'), 'body', /JSON/],
    ['a wrong field', () => send({ eventType: '-' }), 'fields', /eventType/],
    ['an unknown brand', () => send({ brandId: `0x${'9'.repeat(40)}` }), 'brand', /0x9{40}/],
    ['automation', () => send({}, paused), 'automation', /off/],
    ['a foreign domain', () => send({ domain: 'evil.example' }), 'domain', /evil\.example .*shop\.example/],
    ['no domain', () => send({ domain: undefined }), 'domain', /no domain given/],
    ['an unknown event', () => send({ eventType: 'nothing_such' }), 'event', /nothing_such/],
    [
      'a channel',
      () => send({ eventType: 'custom_chat', channel_id: 'x' }),
      'channel',
      /#support, announcements/,
    ],
    ['max claims', async () => (await twice('24h', 'once')).answer, 'max_claims', /1 of 1/],
    ['funds', () => send({ eventType: 'dear' }, poor), 'brand_funds', /25 .*100/],
  ];
  test.each(never)('%s names its check, which no waiting passes', async (_, ask, name, text) => {
    const checks = await checksOf(await ask());
    expect(checks.map((check) => check.name)).toEqual(ORDER);
    const at = ORDER.indexOf(name);
    const outcomes = checks.map(({ outcome }) => outcome);
    expect(outcomes.slice(0, at).every((outcome) => ['ok', 'skipped'].includes(outcome))).toBe(true);
    expect(outcomes[at]).toBe('refused');
    expect(new Set(outcomes.slice(at + 1))).toEqual(new Set(at + 1 < ORDER.length ? ['not reached'] : []));
    expect(checks[at]?.text).toMatch(text);
    expect(checks[at]?.passesAt).toBeNull();
    expect(checks[at]?.or).toMatch(/./);
  });

  test('the total of all users names its check', async () => {
    for (let time = 0; time < 3; time++) await send({ eventType: 'three_in_all' });
    const checks = await checksOf(await send({ eventType: 'three_in_all' }));
    expect(checks.find(({ outcome }) => outcome === 'refused')).toMatchObject({
      name: 'max_total_claims',
      text: expect.stringContaining('3 of 3'),
      passesAt: null,
    });
  });

  test.each([
    ['duplicate', '10s', 'endless'],
    ['cooldown', '61s', 'hourly'],
  ])(
    '%s names its check and the time; at that time it passes, and not before',
    async (name, wait, eventType) => {
      const { userEmail, answer } = await twice(wait, eventType);
      const refused = (await checksOf(answer)).find(({ outcome }) => outcome === 'refused');
      expect(refused?.name).toBe(name);
      const passesAtMs = Date.parse(refused?.passesAt ?? '');
      expect(refused?.passesAt).toBe(answer.body.details.retryAt);
      await get().setClock(passesAtMs - 1);
      expect((await get().send(shop, { userEmail, eventType })).status).toBe(answer.status);
      await get().setClock(passesAtMs);
      expect((await get().send(shop, { userEmail, eventType })).status).toBe(200);
    },
  );

  test('a reward has passed every check', async () => {
    const answer = await send({ eventType: 'custom_chat', channel_id: 'support' });
    const record = await get().explain(answer);
    const outcomes = record.explained[0].checks.map(({ outcome }: Check) => outcome);
    expect(outcomes.every((outcome: string) => ['ok', 'skipped'].includes(outcome))).toBe(true);
    expect(record).toMatchObject({ method: 'POST', path: `${API}/manual-event`, status: 200 });
    expect(JSON.parse(record.responseBody)).toEqual(answer.body);
  });

  test('what was passed over is said', async () => {
    const fields = { userEmail: someone(), domain: undefined, metadata: { source: 'voice_claim' } };
    const checks = await checksOf(await get().send(shop, fields, bearer(shop)));
    const skipped = checks.filter(({ outcome }) => outcome === 'skipped').map(({ name }) => name);
    expect(skipped).toEqual(['domain', 'channel', 'cooldown', 'max_claims']);
  });

  test('the list can be asked for a user and a status', async () => {
    const userEmail = someone();
    const first = await get().send(shop, { userEmail });
    await get().send(shop, { userEmail });
    const { control } = get().ready.urls;
    const list = async (query: string) => (await get().request(`${control}/requests?${query}`)).body.requests;
    const ofUser = await list(`user=${userEmail}`);
    expect(ofUser.map(({ status }: { status: number }) => status)).toEqual([409, 200]);
    expect(ofUser[1].id).toBe(first.headers.get('x-request-id'));
    expect(await list(`user=${userEmail}&status=4xx`)).toHaveLength(1);
    expect((await get().request(`${control}/requests?limit=0`)).status).toBe(400);
    expect((await get().request(`${control}/requests/req_nothing`)).status).toBe(404);
  });
});
