/** What a brand lets callers without its key do: send events, name users by addresses, leave the domain out. */
import { expect, test } from 'vitest';
import { freshAddress } from '../../kits/databases/databases.ts';
import { someone } from '../../kits/service/service.ts';
import { bearer, expectBothForms, onEachDatabase, open, shop } from '../kit.ts';

onEachDatabase('callers without the key of the brand', (get) => {
  const send = (fields: Record<string, unknown>, headers?: Record<string, string>) =>
    get().send(shop, { userEmail: someone(), ...fields }, headers);
  const item = (fields: Record<string, unknown>) => {
    return { brandId: shop.brandId, domain: shop.domain, eventType: 'once', ...fields };
  };
  const reasonOf = ({ status, body }: { status: number; body: { details?: { reason?: string } } }) =>
    status === 200 ? 'rewarded' : `${status} ${body.details?.reason}`;

  test('clientEvents: credential: events come with the key, one by one and in bulk', async () => {
    expect((await get().set(shop, { clientEvents: 'credential' })).body.clientEvents).toBe('credential');
    const anonymous = await send({});
    expectBothForms(anonymous);
    expect([anonymous.status, anonymous.body.error, anonymous.body.details.reason]).toEqual([
      403,
      `This event needs the key of brand ${shop.brandId}`,
      'brand_key_required',
    ]);
    const check = (await get().explain(anonymous)).explained[0].checks.find(
      ({ outcome }: { outcome: string }) => outcome === 'refused',
    );
    expect(check).toMatchObject({ name: 'credential', passesAt: null });
    expect(reasonOf(await send({}, bearer(open)))).toBe('403 brand_key_required');
    expect(reasonOf(await send({}, bearer(shop)))).toBe('rewarded');
    const both = [item({ userEmail: someone() }), { ...open, eventType: 'once', userEmail: someone() }];
    const { results } = (await get().bulk(both)).body;
    expect(results.map(({ status }: { status: unknown }) => status)).toEqual([
      'brand_key_required',
      'rewarded',
    ]);
    expect((await get().bulk([item({ userEmail: someone() })], bearer(shop))).body.processed).toBe(1);
    await get().set(shop, { clientEvents: 'open' });
    expect(reasonOf(await send({}))).toBe('rewarded');
  });

  test('directAddresses: credential: an address is paid with the key only, e-mails without', async () => {
    const byAddress = () => ({ userEmail: undefined, userIdentifier: freshAddress() });
    expect(reasonOf(await send(byAddress()))).toBe('rewarded');
    await get().set(shop, { directAddresses: 'credential' });
    const anonymous = await send(byAddress());
    expect(reasonOf(anonymous)).toBe('403 brand_key_required');
    expect(anonymous.body.message).toMatch(/^Name the user by an e-mail, or /);
    expect((await get().bulk([item(byAddress())])).body.results[0].statusCode).toBe(403);
    expect(reasonOf(await send(byAddress(), bearer(shop)))).toBe('rewarded');
    expect(reasonOf(await send({}))).toBe('rewarded');
    const chatUser = { platform: 'discord', platformUserId: '123456789012345678' };
    expect(reasonOf(await send({ userEmail: undefined, userIdentifier: chatUser }))).toBe('rewarded');
    await get().set(shop, { directAddresses: 'allow' });
  });

  const nowhere = { domain: undefined };
  test.each([
    ['allow', 'rewarded', 'rewarded'],
    ['credential', '403 domain_not_authorized', 'rewarded'],
    ['refuse', '403 domain_not_authorized', '403 domain_not_authorized'],
  ])('domainless: %s: without a domain %s, with the key %s', async (domainless, without, withKey) => {
    await get().set(shop, { domainless });
    expect(reasonOf(await send(nowhere))).toBe(without);
    expect(reasonOf(await send(nowhere, bearer(shop)))).toBe(withKey);
    // What names a domain is judged as ever.
    expect(reasonOf(await send({}))).toBe('rewarded');
    expect(reasonOf(await send({ domain: 'evil.example' }))).toBe('403 domain_not_authorized');
    expect(reasonOf(await send({ domain: 'evil.example' }, bearer(shop)))).toBe('rewarded');
    expect(reasonOf(await send(nowhere, { origin: 'https://evil.example' }))).toBe(
      '403 domain_not_authorized',
    );
    // An event of one of its chat platforms needs no domain.
    const chat = { ...nowhere, metadata: { bot_username: '@ShopBot' } };
    expect(reasonOf(await send(chat))).toBe('rewarded');
    await get().set(shop, { domainless: 'credential' });
  });
});
