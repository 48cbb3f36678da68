/** Contract: Domain rule, Channel rule and Authentication: whose event it is. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { someone } from '../../kits/service/service.ts';
import { bearer, type ContractService, open, shop, startContractService } from '../kit.ts';

describe('contract: Domain rule', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await startContractService();
  });
  afterAll(() => service?.stop());
  const statusOf = async (fields: Record<string, unknown>, headers?: Record<string, string>) =>
    (await service.send(shop, { userEmail: someone(), ...fields }, headers)).status;

  test.each([
    ['shop.example', 200],
    ['SHOP.example', 200],
    ['www.shop.example', 200],
    ['a.b.c.shop.example', 200],
    ['shop.example.', 200],
    ['www.second.example', 200],
    ['eu.www.second.example', 200],
    ['second.example', 403],
    ['bücher.example', 200],
    ['xn--bcher-kva.example', 200],
    ['evilshop.example', 403],
    ['evil-shop.example', 403],
    ['shop.example.evil.io', 403],
    ['example', 403],
    ['open.example', 403],
    ['localhost', 403],
    ['127.0.0.1', 403],
  ])('contract: Domain rule, domain %s gives %i', async (domain, status) => {
    expect(await statusOf({ domain })).toBe(status);
  });

  const nowhere = { domain: undefined };
  test.each<[string, Record<string, unknown>, string | undefined, number]>([
    ['domain before sourceUrl', { sourceUrl: 'https://evil.example/' }, undefined, 200],
    [
      'a foreign domain before sourceUrl',
      { domain: 'evil.example', sourceUrl: 'https://shop.example/' },
      undefined,
      403,
    ],
    ['sourceUrl', { ...nowhere, sourceUrl: 'https://www.shop.example/a?b#c' }, undefined, 200],
    ['a foreign sourceUrl', { ...nowhere, sourceUrl: 'https://evil.example/shop.example' }, undefined, 403],
    ['Origin', nowhere, 'https://shop.example', 200],
    ['Origin with a port', nowhere, 'https://shop.example:8443', 200],
    ['a foreign Origin', nowhere, 'https://evil.example', 403],
    ['a foreign Origin, whatever domain says', {}, 'https://evil.example', 403],
    [
      'a foreign Origin, whatever sourceUrl says',
      { ...nowhere, sourceUrl: 'https://shop.example' },
      'https://evil.example',
      403,
    ],
    ['Origin null', {}, 'null', 403],
    ['an empty Origin', {}, '', 403],
    ['Origin of another scheme', {}, 'chrome-extension://shop.example', 403],
    ['Origin with credentials', {}, 'https://shop.example@evil.example', 403],
    ['our own Origin and the brand’s domain', {}, 'http://localhost:8787', 200],
    ['our own Origin alone', nowhere, 'http://localhost:8787', 403],
    ['nothing', nowhere, undefined, 403],
  ])('contract: Domain rule, %s', async (_, fields, origin, status) => {
    expect(await statusOf(fields, origin === undefined ? {} : { origin })).toBe(status);
  });

  test.each<[string, Record<string, unknown>, Record<string, unknown>, number]>([
    ['telegram', { domain: 'telegram' }, { bot_username: '@ShopBot' }, 200],
    ['telegram, written otherwise', { domain: 'telegram' }, { bot_username: ' shopbot ' }, 200],
    ['telegram, no domain', nowhere, { bot_username: 'ShopBot' }, 200],
    ['telegram, another bot', { domain: 'telegram' }, { bot_username: 'OtherBot' }, 403],
    ['telegram, no bot', { domain: 'telegram' }, {}, 403],
    ['telegram, the bot as a list', { domain: 'telegram' }, { bot_username: ['ShopBot'] }, 403],
    ['twitter', { domain: 'twitter' }, { twitterHandle: '@Shop_Official' }, 200],
    ['twitter, another handle', { domain: 'twitter' }, { twitterHandle: 'shop' }, 403],
    ['twitter with the telegram bot', { domain: 'twitter' }, { bot_username: 'ShopBot' }, 403],
    ['another platform', { domain: 'discord' }, { discordHandle: 'shopserver' }, 200],
    ['a foreign domain with the right bot', { domain: 'evil.example' }, { bot_username: 'ShopBot' }, 403],
    ['a platform that the brand has not', { domain: 'mastodon' }, { mastodonHandle: 'shop' }, 403],
  ])('platform identities: %s', async (_, fields, metadata, status) => {
    expect(await statusOf({ ...fields, metadata })).toBe(status);
  });

  test('a platform identity does not excuse a foreign Origin', async () => {
    const fields = { domain: 'telegram', metadata: { bot_username: 'ShopBot' } };
    expect(await statusOf(fields, { origin: 'https://evil.example' })).toBe(403);
  });

  test('contract: Authentication, brand key: the domain rule is skipped, server to server', async () => {
    expect(await statusOf(nowhere, bearer(shop))).toBe(200);
    expect(await statusOf({ domain: 'evil.example' }, bearer(shop))).toBe(200);
    expect(await statusOf(nowhere, { authorization: `bearer  ${shop.apiKey}` })).toBe(200);
  });

  test.each([
    ['of another brand', bearer(open).authorization],
    ['wrong', `Bearer ${shop.apiKey.slice(0, -1)}x`],
    ['cut short', `Bearer ${shop.apiKey.slice(0, -1)}`],
    ['of an unknown id', `Bearer ${shop.apiKey.replace('test_shop', 'test_shap')}`],
    ['of another environment', `Bearer ${shop.apiKey.replace('test', 'live')}`],
    ['without its scheme', shop.apiKey],
    ['in another scheme', `Basic ${shop.apiKey}`],
    ['twice', `Bearer ${shop.apiKey} ${shop.apiKey}`],
    ['empty', 'Bearer '],
    ['very long', `Bearer rk_test_shop_${'A'.repeat(4_000)}`],
    ['nonsense', 'Bearer __proto__'],
  ])('contract: Authentication, brand key that is %s: the domain rule stays', async (_, authorization) => {
    expect(await statusOf(nowhere, { authorization })).toBe(403);
    expect(await statusOf({}, { authorization })).toBe(200);
  });

  test('contract: Authentication, brand key: automation and events still count', async () => {
    expect(await statusOf({ eventType: 'nothing_such' }, bearer(shop))).toBe(400);
    expect(await statusOf({ eventType: 'custom_chat', channel_id: 'random' }, bearer(shop))).toBe(403);
  });
});
