/** Contract: Resources and their fields, Event submission: every row, at its bounds. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { someone } from '../../kits/service/service.ts';
import { type ContractService, shop, startContractService } from '../kit.ts';

const sized = (length: number) => `${'a'.repeat(length - '@people.example'.length)}@people.example`;
const host = (length: number) => `${'a.'.repeat((length - 'shop.example'.length) / 2)}shop.example`;
const url = (length: number) => `https://shop.example/${'x'.repeat(length - 'https://shop.example/'.length)}`;

interface Row {
  row: string;
  /** Fields that are sent, with the status each is answered with. */
  cases: [what: string, fields: Record<string, unknown>, status: number][];
}

const rows: Row[] = [
  {
    row: 'brandId',
    cases: [
      ['42 characters', {}, 200],
      ['missing', { brandId: undefined }, 400],
      ['null', { brandId: null }, 400],
      ['empty', { brandId: '' }, 400],
      ['41 characters', { brandId: shop.brandId.slice(0, -1) }, 400],
      ['43 characters', { brandId: `${shop.brandId}a` }, 400],
      ['without 0x', { brandId: `aa${'a'.repeat(40)}` }, 400],
      ['in capitals', { brandId: shop.brandId.toUpperCase() }, 200],
      ['not hex', { brandId: `0x${'g'.repeat(40)}` }, 400],
      ['a number', { brandId: 1 }, 400],
      ['a list', { brandId: [shop.brandId] }, 400],
      ['with a blank around it', { brandId: ` ${shop.brandId} ` }, 200],
      ['with a control character in it', { brandId: `${shop.brandId}\u0000` }, 200],
      ['not registered', { brandId: `0x${'9'.repeat(40)}` }, 400],
    ],
  },
  {
    row: 'eventType',
    cases: [
      ['missing', { eventType: undefined }, 400],
      ['empty', { eventType: '' }, 400],
      ['a hyphen', { eventType: 'on-ce' }, 400],
      ['a blank', { eventType: 'on ce' }, 400],
      ['a dot', { eventType: 'once.' }, 400],
      ['a letter outside ASCII', { eventType: 'oncé' }, 400],
      ['51 characters', { eventType: 'a'.repeat(51) }, 400],
      ['another case', { eventType: 'Once' }, 400],
      ['__proto__', { eventType: '__proto__' }, 400],
      ['constructor', { eventType: 'constructor' }, 400],
      ['not active', { eventType: 'asleep' }, 400],
      ['a custom event', { eventType: 'custom_chat' }, 200],
      ['a number', { eventType: 5 }, 400],
    ],
  },
  {
    row: 'userEmail',
    cases: [
      ['missing, and no userIdentifier', { userEmail: undefined }, 400],
      ['null, and no userIdentifier', { userEmail: null }, 400],
      ['empty, and no userIdentifier', { userEmail: '' }, 400],
      ['no @', { userEmail: 'nobody' }, 400],
      ['two @', { userEmail: 'a@b@people.example' }, 400],
      ['a display name', { userEmail: 'Nobody <nobody@people.example>' }, 400],
      ['two addresses', { userEmail: 'a@people.example,b@people.example' }, 400],
      ['a quoted local part', { userEmail: '"no body"@people.example' }, 200],
      ['a letter outside ASCII', { userEmail: 'bücher@people.example' }, 200],
      ['254 characters', { userEmail: sized(254) }, 200],
      ['255 characters', { userEmail: sized(255) }, 400],
      ['a line break in it', { userEmail: 'line\r\nbreak@people.example' }, 200],
      ['an object', { userEmail: { email: 'a@people.example' } }, 400],
    ],
  },
  {
    row: 'domain',
    cases: [
      ['the brand’s', { domain: 'shop.example' }, 200],
      ['a subdomain', { domain: 'www.shop.example' }, 200],
      ['252 characters', { domain: host(252) }, 200],
      ['254 characters', { domain: host(254) }, 400],
      ['with a scheme', { domain: 'https://shop.example' }, 400],
      ['with a path', { domain: 'shop.example/thanks' }, 400],
      ['with a blank', { domain: 'shop .example' }, 400],
      ['with an underscore, and not of the brand', { domain: 'shop_1.example' }, 403],
      ['with an underscore', { domain: 'my_shop.shop.example' }, 200],
      ['a number', { domain: 1 }, 400],
      ['absent, and nothing in its place', { domain: undefined }, 403],
      ['empty, and nothing in its place', { domain: '' }, 403],
    ],
  },
  {
    row: 'sourceUrl',
    cases: [
      ['HTTPS', { domain: undefined, sourceUrl: 'https://shop.example/thanks?order=1#top' }, 200],
      ['HTTP', { domain: undefined, sourceUrl: 'http://shop.example' }, 200],
      ['FTP', { sourceUrl: 'ftp://shop.example' }, 400],
      ['javascript:', { sourceUrl: 'javascript://shop.example/%0aalert(1)' }, 400],
      ['no scheme', { sourceUrl: 'shop.example/thanks' }, 400],
      ['credentials', { sourceUrl: 'https://a:b@shop.example/' }, 400],
      ['2048 characters', { sourceUrl: url(2048) }, 200],
      ['2049 characters', { sourceUrl: url(2049) }, 400],
      ['a number', { sourceUrl: 1 }, 400],
      ['null', { sourceUrl: null }, 200],
    ],
  },
  {
    row: 'userIdentifier',
    cases: [
      ['an e-mail', { userEmail: undefined, userIdentifier: 'by-identifier@people.example' }, 200],
      ['an address', { userEmail: undefined, userIdentifier: `0x${'ab'.repeat(20)}` }, 200],
      ['an address in capitals', { userEmail: undefined, userIdentifier: `0x${'AC'.repeat(20)}` }, 200],
      [
        'a platform user',
        { userEmail: undefined, userIdentifier: { platform: 'telegram', platformUserId: 42 } },
        200,
      ],
      ['beside userEmail', { userIdentifier: `0x${'ad'.repeat(20)}` }, 200],
      ['neither', { userEmail: undefined, userIdentifier: 'nobody' }, 400],
      ['39 hex digits', { userEmail: undefined, userIdentifier: `0x${'a'.repeat(39)}` }, 400],
      ['a number', { userEmail: undefined, userIdentifier: 5 }, 400],
      ['a platform without a user', { userEmail: undefined, userIdentifier: { platform: 'telegram' } }, 400],
      [
        'a platform user with a blank',
        { userEmail: undefined, userIdentifier: { platform: 'x', platformUserId: 'a b' } },
        400,
      ],
      ['a customer number beside userEmail', { userIdentifier: 'C-10045' }, 200],
      ['a number beside userEmail', { userIdentifier: 10045 }, 200],
      ['beside an invalid userEmail', { userEmail: 'x', userIdentifier: 'C-10045' }, 400],
    ],
  },
  {
    row: 'metadata',
    cases: [
      ['absent', { metadata: undefined }, 200],
      ['null', { metadata: null }, 200],
      ['free-form', { metadata: { a: [1, { b: null }], 'c d': 'e', 1: true } }, 200],
      ['a text', { metadata: 'x' }, 400],
      ['a list', { metadata: [] }, 400],
      ['a number', { metadata: 1 }, 400],
    ],
  },
  {
    row: 'metadata.channel_id',
    cases: [
      ['allowed', { eventType: 'custom_chat', metadata: { channel_id: '#support' } }, 200],
      ['allowed, written otherwise', { eventType: 'custom_chat', metadata: { channel_id: 'SUPPORT' } }, 200],
      ['not allowed', { eventType: 'custom_chat', metadata: { channel_id: 'random' } }, 403],
      ['absent', { eventType: 'custom_chat', metadata: {} }, 200],
      ['null', { eventType: 'custom_chat', metadata: { channel_id: null } }, 200],
      ['a number', { eventType: 'custom_chat', metadata: { channel_id: 5 } }, 403],
      ['an object', { eventType: 'custom_chat', metadata: { channel_id: {} } }, 400],
      ['on an event without channels', { metadata: { channel_id: 'anywhere' } }, 200],
      ['at the top level', { eventType: 'custom_chat', channel_id: 'random' }, 403],
      [
        'at both, metadata first',
        { eventType: 'custom_chat', channel_id: 'random', metadata: { channel_id: 'support' } },
        200,
      ],
    ],
  },
  {
    row: 'metadata.skip_cooldown',
    cases: [
      ['true', { metadata: { skip_cooldown: true } }, 200],
      ['false', { metadata: { skip_cooldown: false } }, 200],
      ['null', { metadata: { skip_cooldown: null } }, 200],
      ['"true"', { metadata: { skip_cooldown: 'true' } }, 400],
      ['1', { metadata: { skip_cooldown: 1 } }, 400],
    ],
  },
];

describe('contract: Event submission', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await startContractService();
  });
  afterAll(() => service?.stop());

  const cases = rows.flatMap(({ row, cases: of }) =>
    of.map(([what, fields, status]) => [row, what, status, fields] as const),
  );
  test.each(cases)('contract: Event submission, %s: %s gives %i', async (row, _, status, fields) => {
    const answer = await service.send(shop, { userEmail: someone(), ...fields });
    expect(answer.status).toBe(status);
    expect(answer.body.success).toBe(status === 200);
    if (status !== 400 || /not found/.test(answer.body.error)) return;
    expect(answer.body.error).toBe('Invalid event data');
    const [field = row] = row.split('.');
    // Without a user, the complaint is about the field that should name one.
    const named = field === 'userIdentifier' ? /^user(?:Identifier|Email)/ : new RegExp(`^${field}`);
    expect(answer.body.details.errors).toContainEqual(expect.stringMatching(named));
  });

  test('contract: Event submission, brandId: lower case inside and out, whatever was sent', async () => {
    const brandId = `0x${'aA'.repeat(20)}`;
    const answer = await service.send(shop, { brandId, userEmail: someone() });
    expect(answer.body.brandId).toBe(shop.brandId);
  });

  test('contract: Event submission, userEmail: one user however it is written', async () => {
    await service.send(shop, { userEmail: ' Same.User@PEOPLE.example ' });
    const again = await service.send(shop, { userEmail: 'same.user@people.example' });
    expect(again.status).toBe(409);
    const tagged = await service.send(shop, { userEmail: 'same.user+tag@people.example' });
    expect(tagged.status).toBe(200);
  });

  test('a userIdentifier beside a valid userEmail is kept in the record, and the e-mail counts', async () => {
    const userEmail = someone();
    const { status } = await service.send(shop, { userEmail, userIdentifier: 'C-10045', metadata: { a: 1 } });
    expect(status).toBe(200);
    const ledger = new Sqlite(join(service.ready.dataDir, 'ledger.sqlite'), { readonly: true });
    const rows = ledger.prepare('select user_key, metadata from rewards where user_email = ?').all(userEmail);
    ledger.close();
    expect(rows).toEqual([
      { user_key: userEmail, metadata: JSON.stringify({ userIdentifier: 'C-10045', a: 1 }) },
    ]);
    expect((await service.send(shop, { userEmail, userIdentifier: 'C-10046' })).status).toBe(409);
  });

  test('contract: Event submission, userIdentifier: a platform user gets the e-mail {platform}_{id}', async () => {
    const userIdentifier = { platform: 'discord', platformUserId: '80351110224678912' };
    const first = await service.send(shop, { userIdentifier });
    expect(first.status).toBe(200);
    const userEmail = 'discord_80351110224678912@rewards.localhost';
    expect((await service.send(shop, { userEmail })).status).toBe(409);
    const balance = await service.request(
      `/rewards-api/user-balance?brandId=${shop.brandId}&userEmail=${userEmail}`,
    );
    expect(balance.body.walletAddress).toBe(first.body.walletAddress);
  });

  test('contract: Event submission, sanitising: what is answered has no control characters', async () => {
    const noisy = 'on\u0000ce\u202e';
    const answer = await service.send(shop, { userEmail: `\u0007${someone()}\u009f`, eventType: noisy });
    expect([answer.status, answer.body.eventType]).toEqual([200, 'once']);
  });

  test('contract: Event submission: every complaint is named at once', async () => {
    const wrong = { brandId: 'x', eventType: '-', userEmail: 'x', domain: '/', sourceUrl: 'x', metadata: 1 };
    const { body } = await service.send(shop, wrong);
    const fields = body.details.errors.map((error: string) => error.split(':')[0]);
    expect(new Set(fields)).toEqual(new Set(Object.keys(wrong)));
    expect(body.message).toContain('brandId');
  });
});
