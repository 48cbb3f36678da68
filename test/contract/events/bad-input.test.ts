import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestService, type TestService } from '../../kits/service/service.ts';

const valid = {
  eventType: 'form_submit',
  userEmail: 'somebody@people.example',
  domain: 'demo.example',
};
const padded = (bytes: number, brandId: string) => {
  const body = JSON.stringify({ ...valid, brandId, metadata: { note: '' } });
  return body.replace('"note":""', `"note":"${'x'.repeat(bytes - body.length)}"`);
};

describe('bad input is refused with the contract’s status and body (contract: Errors)', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service?.stop());

  const bodies: [string, (brandId: string) => unknown, string][] = [
    ['no body', () => '', 'body'],
    ['no JSON', () => 'hello', 'body'],
    ['half a JSON', () => '{"brandId":', 'body'],
    ['invalid UTF-8', () => new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), 'body'],
    ['a list', () => '[]', 'body'],
    ['null', () => 'null', 'body'],
    ['a text', () => '"x"', 'body'],
    [
      'a body too deep',
      (brandId) => `{"brandId":"${brandId}","metadata":${'['.repeat(4000)}${']'.repeat(4000)}}`,
      'body',
    ],
    [
      '__proto__ in metadata',
      (brandId) => `{"brandId":"${brandId}","metadata":{"__proto__":{"skip_cooldown":true}}}`,
      'body',
    ],
    [
      '__proto__ on top',
      (brandId) => `{"brandId":"${brandId}","__proto__":{"eventType":"form_submit"}}`,
      'body',
    ],
    ['brandId missing', () => ({ ...valid, brandId: undefined }), 'brandId'],
    ['brandId a number', () => ({ ...valid, brandId: 7 }), 'brandId'],
    ['brandId too short', () => ({ ...valid, brandId: '0xabc' }), 'brandId'],
    ['brandId not hex', () => ({ ...valid, brandId: `0x${'g'.repeat(40)}` }), 'brandId'],
    ['eventType missing', (brandId) => ({ ...valid, brandId, eventType: undefined }), 'eventType'],
    ['eventType with a hyphen', (brandId) => ({ ...valid, brandId, eventType: 'form-submit' }), 'eventType'],
    ['eventType of 51', (brandId) => ({ ...valid, brandId, eventType: 'a'.repeat(51) }), 'eventType'],
    ['eventType a list', (brandId) => ({ ...valid, brandId, eventType: ['form_submit'] }), 'eventType'],
    ['userEmail missing', (brandId) => ({ ...valid, brandId, userEmail: undefined }), 'userEmail'],
    ['userEmail no address', (brandId) => ({ ...valid, brandId, userEmail: 'nobody' }), 'userEmail'],
    ['userEmail with two @', (brandId) => ({ ...valid, brandId, userEmail: 'a@b@c.example' }), 'userEmail'],
    [
      'userEmail of 255',
      (brandId) => ({ ...valid, brandId, userEmail: `${'a'.repeat(243)}@b12.example` }),
      'userEmail',
    ],
    ['userEmail an object', (brandId) => ({ ...valid, brandId, userEmail: {} }), 'userEmail'],
    ['domain of 254', (brandId) => ({ ...valid, brandId, domain: `${'a.'.repeat(124)}example` }), 'domain'],
    ['domain with a space', (brandId) => ({ ...valid, brandId, domain: 'demo .example' }), 'domain'],
    [
      'domain with userinfo',
      (brandId) => ({ ...valid, brandId, domain: 'demo.example@evil.example' }),
      'domain',
    ],
    [
      'sourceUrl of another scheme',
      (brandId) => ({ ...valid, brandId, sourceUrl: 'javascript://demo.example/%0aalert(1)' }),
      'sourceUrl',
    ],
    [
      'sourceUrl of 2049',
      (brandId) => ({ ...valid, brandId, sourceUrl: `https://demo.example/${'a'.repeat(2028)}` }),
      'sourceUrl',
    ],
    ['metadata a list', (brandId) => ({ ...valid, brandId, metadata: [] }), 'metadata'],
    ['metadata a text', (brandId) => ({ ...valid, brandId, metadata: 'x' }), 'metadata'],
    [
      'skip_cooldown a text',
      (brandId) => ({ ...valid, brandId, metadata: { skip_cooldown: 'true' } }),
      'metadata',
    ],
    [
      'userIdentifier a number',
      (brandId) => ({ ...valid, userEmail: undefined, brandId, userIdentifier: 5 }),
      'userIdentifier',
    ],
  ];
  test.each(bodies)('%s: 400 Invalid event data, naming the field', async (_name, body, field) => {
    const answer = await service.post('/rewards-api/manual-event', body(service.brand.brandId));
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ success: false, error: 'Invalid event data' });
    expect(answer.body.details.errors.some((error: string) => error.startsWith(field))).toBe(true);
  });

  test.each<[string, string, string]>([
    [
      'a comma too many',
      '{\n  "brandId": "0x1",\n}',
      'at line 3, column 1, "}" came where a name in double quotes is expected',
    ],
    [
      'a comma too few',
      '{"a": 1\n "b": 2}',
      'at line 2, column 2, "\\"b\\"" came where , or the closing bracket is expected',
    ],
    [
      'single quotes',
      "{'a': 1}",
      'at line 1, column 2, "\'" came where a name in double quotes or } is expected',
    ],
    ['a word', '{"a": undefined}', 'at line 1, column 7, "undefined" came where a value is expected'],
    [
      'half a body',
      '{"a": [1, 2',
      'at line 1, column 12, the text ends where , or the closing bracket is expected',
    ],
    ['two bodies', '{} {}', 'at line 1, column 4, "{" came where nothing more is expected'],
    ['no body', ' ', 'body: is required, as JSON; it came empty'],
    ['a hidden prototype', '{"a": {"__proto__": {}}}', 'must not have keys named __proto__'],
  ])('a mistake in JSON is shown where it is: %s', async (_, body, problem) => {
    const answer = await service.post('/rewards-api/manual-event', body);
    expect(answer.status).toBe(400);
    expect(answer.body.details.errors).toEqual([expect.stringContaining(problem)]);
    if (!problem.includes('__proto__')) expect(answer.body.message).not.toContain('__proto__');
  });

  test('bytes that are not UTF-8 are called that', async () => {
    const answer = await service.post('/rewards-api/manual-event', new Uint8Array([0x7b, 0xff, 0x7d]));
    expect(answer.body.details.errors).toEqual(['body: must be UTF-8']);
  });

  test('a list that is too long is told how much came, and what to do', async () => {
    const events = Array.from({ length: 100 }, () => ({ ...valid, brandId: service.brand.brandId }));
    const text = JSON.stringify({ events });
    const answer = await service.post('/rewards-api/bulk-events', text);
    expect([answer.status, answer.body.details]).toEqual([413, { maxBytes: 10_240, bytes: text.length }]);
    expect(answer.body.message).toContain('send fewer items');
  });

  test.each(['gzip', 'br', 'deflate', 'gzip, identity'])('a body in %s is 415', async (coding) => {
    const answer = await service.event({ userEmail: valid.userEmail }, { 'content-encoding': coding });
    expect([answer.status, answer.headers.get('accept-encoding')]).toEqual([415, 'identity']);
    expect(answer.body.details).toEqual({ reason: 'unsupported_encoding', coding });
  });

  test.each(['Identity', 'IDENTITY', ' identity '])('a body in %s is not compressed', async (coding) => {
    const answer = await service.event({ userEmail: 'nobody' }, { 'content-encoding': coding });
    expect(answer.status).toBe(400);
    expect(answer.body.details.errors).toEqual(['userEmail: must be a valid e-mail address']);
  });

  test('an unknown brand and an unknown event are named, and not found', async () => {
    const brandId = `0x${'ab'.repeat(20)}`;
    const brand = await service.post('/rewards-api/manual-event', { ...valid, brandId });
    expect(brand.status).toBe(400);
    expect(brand.body.error).toMatch(new RegExp(`not found.*${brandId}`, 'i'));
    const event = await service.event({ userEmail: valid.userEmail, eventType: 'no_such_event' });
    expect(event.status).toBe(400);
    expect(event.body.error).toMatch(/not found.*no_such_event/i);
  });

  test('10,240 bytes pass, 10,241 are too many, however they are sent (contract: Limits)', async () => {
    const { brandId } = service.brand;
    expect((await service.post('/rewards-api/manual-event', padded(10_240, brandId))).status).toBe(200);
    const over = await service.post('/rewards-api/manual-event', padded(10_241, brandId));
    expect(over.status).toBe(413);
    expect(over.body).toMatchObject({ success: false, details: { maxBytes: 10_240, bytes: 10_241 } });
    expect(over.body.message).toContain('10241');
    const chunked = await service.request('/rewards-api/manual-event', {
      method: 'POST',
      body: new Blob([padded(20_480, brandId)]).stream(),
      duplex: 'half',
    } as RequestInit);
    expect(chunked.status).toBe(413);
  });

  test('control characters and half characters are taken out, and never a server error', async () => {
    const { brandId } = service.brand;
    const answer = await service.post(
      '/rewards-api/manual-event',
      `{"brandId":"${brandId}","eventType":"form_submit\\u0000","userEmail":"clean\\u0007@people.example","domain":"demo.example","metadata":{"no\\u0000te":"a\\u0001b\\ud800c\\u202e"}}`,
    );
    expect(answer.status).toBe(200);
    expect(answer.body.eventType).toBe('form_submit');
  });

  test('an unknown path is 404, on every method', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      const answer = await service.request('/rewards-api/nothing-here', { method });
      expect([answer.status, answer.body.success]).toEqual([404, false]);
    }
  });
});
