import { describe, expect, test } from 'vitest';
import { CliError } from '../../src/cli/machine/errors.ts';
import { parseAssignment } from '../../src/cli/service/assignments.ts';
import { buildEventBody, type EventFlags } from '../../src/cli/service/event-body.ts';
import { matches, parseExpectation } from '../../src/cli/service/expectation.ts';

const brandId = '0xa0ee7a142d267c1f36714e4a8f75612f20a79720';
const brands = [{ brandId, domain: 'demo.example', apiKey: 'k', webhookSecret: 's' }];
const body = (flags: EventFlags, file?: Record<string, unknown>) => buildEventBody(flags, { file, brands });
const alice = { type: 'account_creation', user: 'alice@demo.example' };

function hintOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof CliError && error.problem.code === 'E_USAGE')
      return `${error.message} ${error.problem.fix}`;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('the body of an event', () => {
  test('brand and domain are those of the stack', () => {
    expect(body(alice)).toEqual({
      brandId,
      domain: 'demo.example',
      eventType: 'account_creation',
      userEmail: 'alice@demo.example',
    });
  });

  test('no domain is made up when the sender says where it happened, or for another brand', () => {
    expect(body({ ...alice, sourceUrl: 'https://shop.demo.example/x' })).not.toHaveProperty('domain');
    expect(body({ ...alice, origin: 'https://shop.demo.example' })).not.toHaveProperty('domain');
    expect(body({ ...alice, brand: `0x${'1'.repeat(40)}` })).not.toHaveProperty('domain');
    expect(body({ ...alice, brand: brandId.toUpperCase().replace('0X', '0x') })).toMatchObject({
      domain: 'demo.example',
    });
  });

  test('flags for metadata', () => {
    expect(body({ ...alice, channel: '#support', skipCooldown: true })).toMatchObject({
      metadata: { channel_id: '#support', skip_cooldown: true },
    });
  });

  test('--set over flags over file; the file demands nothing', () => {
    expect(
      body(
        { type: 'purchase', set: ['userEmail=c@demo.example', 'metadata.a.b=1'] },
        { eventType: 'x', userEmail: 'b@x.example', metadata: { a: { c: 2 } } },
      ),
    ).toMatchObject({ eventType: 'purchase', userEmail: 'c@demo.example', metadata: { a: { b: 1, c: 2 } } });
    expect(body({}, { odd: true })).toMatchObject({ odd: true });
  });

  test('what is missing is named', () => {
    expect(hintOf(() => body({ user: 'a@demo.example' }))).toContain('event type');
    expect(hintOf(() => body({ type: 'purchase' }))).toContain('--user');
    expect(hintOf(() => buildEventBody(alice, { file: undefined, brands: [] }))).toContain('--brand');
    expect(body({ type: 'purchase', userIdentifier: `0x${'2'.repeat(40)}` })).not.toHaveProperty('userEmail');
  });
});

describe('--set', () => {
  test.each([
    ['metadata.level=3', 3],
    ['metadata.level=true', true],
    ['metadata.level=null', null],
    ['metadata.level="3"', '3'],
    ['metadata.level=[1,{"a":2}]', [1, { a: 2 }]],
    ['metadata.level=gold', 'gold'],
    ['metadata.level=', ''],
    ['metadata.level=a=b', 'a=b'],
    ['metadata.level=0x10', '0x10'],
  ])('%s', (text, value) => {
    expect(parseAssignment(text, { asText: false })).toEqual({ path: ['metadata', 'level'], value });
  });

  test('--set-string keeps the text', () => {
    expect(parseAssignment('metadata.level=3', { asText: true }).value).toBe('3');
    expect(body({ ...alice, setString: ['metadata.zip=01234'] })).toMatchObject({
      metadata: { zip: '01234' },
    });
  });

  test('a path that means nothing is refused', () => {
    expect(hintOf(() => body({ ...alice, set: ['metdata.x=1'] }))).toContain('Did you mean metadata?');
    expect(hintOf(() => body({ ...alice, set: ['colour=red'] }))).toContain('brandId, eventType');
    expect(hintOf(() => body({ ...alice, set: ['userEmail.x=1'] }))).toContain('no fields of its own');
    expect(hintOf(() => body({ ...alice, set: ['metadata.a=1', 'metadata.a.b=2'] }))).toContain(
      'not an object',
    );
    expect(hintOf(() => body({ ...alice, set: ['metadata'] }))).toContain('no value');
    expect(hintOf(() => body({ ...alice, set: ['metadata..a=1'] }))).toContain('not a path');
  });

  test.each([
    '__proto__.x=1',
    'metadata.__proto__.x=1',
    'metadata.constructor.prototype.x=1',
    'constructor=1',
  ])('%s never reaches a prototype', (text) => {
    expect(hintOf(() => body({ ...alice, set: [text] }))).toMatch(/cannot be part/);
    expect(Object.prototype).not.toHaveProperty('x');
  });

  test('a file’s own __proto__ key goes out as it is, and does no harm here', () => {
    const file = JSON.parse('{"metadata":{"__proto__":{"polluted":true}}}');
    const sent = body({ ...alice, set: ['metadata.a=1'] }, file);
    expect(JSON.stringify(sent)).toContain('"__proto__":{"polluted":true}');
    expect(Object.prototype).not.toHaveProperty('polluted');
  });
});

describe('--expect', () => {
  const reply = (status: number, answer: unknown = {}) => ({
    status,
    headers: {},
    body: answer,
    rawBody: '',
  });
  const cooldown = reply(429, { error: 'Cooldown active', details: { reason: 'cooldown' } });
  test.each([
    { text: '200', answer: reply(200), fits: true },
    { text: '200', answer: reply(201), fits: false },
    { text: '2xx', answer: reply(201), fits: true },
    { text: '429', answer: cooldown, fits: true },
    { text: '429:cooldown', answer: cooldown, fits: true },
    { text: '429:Cooldown Active', answer: cooldown, fits: true },
    { text: '429:max_claims_reached', answer: cooldown, fits: false },
    {
      text: '409:duplicate',
      answer: reply(409, { error: 'x', details: { existingEventId: '1' } }),
      fits: true,
    },
    { text: '403:VALIDATION_FAILED', answer: reply(403, { code: 'VALIDATION_FAILED' }), fits: true },
    { text: '500:cooldown', answer: reply(500, 'not json'), fits: false },
  ])('$text on $answer.status: $fits', ({ text, answer, fits }) => {
    expect(matches(answer, parseExpectation(text))).toBe(fits);
  });

  test.each(['', 'cooldown', '42', '600', '429:', '4x9'])('%j is not understood', (text) => {
    expect(hintOf(() => parseExpectation(text))).toContain('429:cooldown');
  });
});
