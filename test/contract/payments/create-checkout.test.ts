/** Contract: POST create-checkout. */
import { describe, expect, test } from 'vitest';
import { API, open, shop } from '../kit.ts';
import { onOne, onPayments, type PaymentService } from './kit.ts';

const KEY = { 'idempotency-key': 'checkout-key-1' };

const fields = (get: () => PaymentService) => {
  test('answers with the page and the id of a session that has what the ledger planned', async () => {
    const service = get();
    const { status, body } = await service.checkout({ amount: 2_550, userEmail: ' Buyer@People.Example ' });
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      checkoutUrl: expect.stringMatching(/^http.*\/_pay\//),
      sessionId: expect.stringMatching(/^cs_/),
    });
    expect(await service.session(body.sessionId)).toMatchObject({
      status: 'open',
      paymentStatus: 'unpaid',
      amount: 2_550,
      currency: 'usd',
      email: 'buyer@people.example',
      metadata: { wallet: shop.brandId, usd_amount: '25.50', rwt_amount: '25500' },
    });
    expect(Object.values(service.newestCheckout()?.fields ?? {})).toContain('25500 reward tokens (RWT)');
  });

  test('takes the least amount, the largest, dollars in capitals, and null for what is optional', async () => {
    const service = get();
    for (const fields of [{ amount: 50 }, { amount: 99_999_999 }, { currency: 'USD' }, { currency: null }])
      expect((await service.checkout(fields)).status, JSON.stringify(fields)).toBe(200);
  });

  test('takes the id of the brand in any case', async () => {
    const { status } = await get().checkout({ brandId: shop.brandId.toUpperCase().replace('0X', '0x') });
    expect(status).toBe(200);
  });

  describe('refuses with 400', () => {
    test.each<[string, Record<string, unknown>, RegExp]>([
      ['no brand', { brandId: undefined }, /^brandId: is required/],
      ['no address', { brandId: 'shop' }, /^brandId: must be an address/],
      ['no amount', { amount: undefined }, /^amount: is required/],
      ['an amount of null', { amount: null }, /^amount: is required/],
      ['less than 50 cents', { amount: 49 }, /^amount: must be a whole number of US cents from 50/],
      ['more than the processor takes', { amount: 100_000_000 }, /^amount: must be/],
      ['a fraction of a cent', { amount: 100.5 }, /^amount: must be/],
      ['a negative amount', { amount: -100 }, /^amount: must be/],
      ['an amount as text', { amount: '100' }, /^amount: must be/],
      ['an amount of text with an exponent', { amount: '1e3' }, /^amount: must be/],
      ['an amount in a list', { amount: [100] }, /^amount: must be/],
      ['more than a number holds', { amount: 1e21 }, /^amount: must be/],
      ['another currency', { currency: 'eur' }, /^currency: must be usd/],
      ['a currency that is no text', { currency: 5 }, /^currency: must be usd/],
      ['no e-mail', { userEmail: undefined }, /^userEmail: is required/],
      ['a text that is no e-mail', { userEmail: 'buyer' }, /^userEmail: must be a valid e-mail/],
      [
        'a quoted local part',
        { userEmail: '"a b"@people.example' },
        /^userEmail: must be an e-mail address that the payment processor takes/,
      ],
      ['a local part of other letters', { userEmail: 'bücher@people.example' }, /^userEmail: .* processor/],
      ['a domain without a dot', { userEmail: 'buyer@localhost' }, /^userEmail: .* processor/],
      ['a long local part', { userEmail: `${'b'.repeat(65)}@people.example` }, /^userEmail: .* processor/],
      ['no page', { successUrl: undefined }, /^successUrl: is required/],
      ['a page that is no address', { cancelUrl: '/cart' }, /^cancelUrl: must be a web address/],
      ['a script', { cancelUrl: 'javascript:alert(1)' }, /^cancelUrl: must be a web address/],
      ['credentials', { successUrl: `https://a:b@${shop.domain}/` }, /^successUrl: must be a web address/],
      ['a long page', { successUrl: `https://${shop.domain}/${'x'.repeat(2_048)}` }, /^successUrl: must be/],
    ])('%s', async (_what, fields, error) => {
      const { status, body } = await get().checkout(fields);
      expect(status).toBe(400);
      expect(body).toMatchObject({ success: false, error: 'Invalid event data' });
      expect(body.details.errors).toEqual([expect.stringMatching(error)]);
    });

    test('a brand that does not exist', async () => {
      const { status, body } = await get().checkout({ brandId: `0x${'9'.repeat(40)}` });
      expect([status, body.error]).toEqual([400, expect.stringContaining('not found')]);
    });

    test('what is not JSON, and a body over 10 KB', async () => {
      const service = get();
      expect((await service.post(`${API}/create-checkout`, '{')).status).toBe(400);
      const long = await service.checkout({ more: 'x'.repeat(11_000) });
      expect(long.status).toBe(413);
    });

    test.each([
      `http://${shop.domain}/thanks`,
      'https://elsewhere.example/',
      `https://${open.domain}/`,
      `https://${shop.domain}.elsewhere.example/`,
      `https://not${shop.domain}/`,
      `https://elsewhere.example/?${shop.domain}`,
      `https://elsewhere.example#${shop.domain}`,
      `https://elsewhere.example\\.${shop.domain}/`,
      `https://elsewhere.example%2f.${shop.domain}/`,
      `https:elsewhere.example`,
      `https:///elsewhere.example/${shop.domain}`,
      'https://192.0.2.7/',
      'ftp://shop.example/',
    ])('a page elsewhere: %s', async (page) => {
      const service = get();
      const before = service.asked().length;
      for (const field of ['successUrl', 'cancelUrl']) {
        const { status, body } = await service.checkout({ [field]: page });
        expect(status, field).toBe(400);
        expect(body.details.errors).toEqual([expect.stringMatching(new RegExp(`^${field}: must be`))]);
      }
      expect(service.asked().length).toBe(before);
    });
  });

  test('each page that lies elsewhere is named in the refusal, with where it may be', async () => {
    const page = 'https://elsewhere.example/';
    const { body } = await get().checkout({ successUrl: page, cancelUrl: page });
    const domains = 'shop.example, www.second.example, xn--bcher-kva.example';
    const wrong = `must be an https address on a domain of the brand (${domains})`;
    expect(body.details.errors).toEqual([`successUrl: ${wrong}`, `cancelUrl: ${wrong}`]);
  });

  test.each([
    `https://${shop.domain}/`,
    `https://www.${shop.domain}:8443/thanks?order=1#done`,
    `https://SHOP.example/thanks/{CHECKOUT_SESSION_ID}`,
    `https://${shop.domain}/thanks?session={CHECKOUT_SESSION_ID}`,
    'https://www.second.example/store/thanks',
    'http://127.0.0.1:5173/thanks',
    'http://localhost:3000/',
  ])('buyers may come back to %s', async (page) => {
    const service = get();
    const { status } = await service.checkout({ successUrl: page, cancelUrl: page });
    expect(status).toBe(200);
    const fields: Record<string, string> = service.newestCheckout()?.fields ?? {};
    expect(fields.success_url).toBe(page.replace('SHOP', 'shop'));
    expect(fields.cancel_url).toBe(fields.success_url);
  });
};

onPayments('create-checkout', fields, onOne);

onPayments('create-checkout, sent again', (get) => {
  test('the same key with the same body gets the same answer, and one session is made', async () => {
    const service = get();
    const before = service.asked().length;
    const answers = await Promise.all(Array.from({ length: 5 }, () => service.checkout({}, KEY)));
    answers.push(await service.checkout({}, KEY));
    const [first] = answers;
    for (const answer of answers) expect([answer.status, answer.body]).toEqual([200, first?.body]);
    expect(service.asked().length).toBe(before + 1);
    expect(await service.checkout({ amount: 999 }, KEY)).toMatchObject({ status: 409 });
    const inBody = await service.checkout({ idempotencyKey: 'checkout-key-2' });
    expect((await service.checkout({ idempotencyKey: 'checkout-key-2' })).body).toEqual(inBody.body);
    expect(await service.checkout({ idempotencyKey: ' ' })).toMatchObject({
      status: 400,
      body: { details: { errors: [expect.stringMatching(/^idempotencyKey/)] } },
    });
  });

  test('an answer of the processor that is lost leads to the same session when the request is sent again', async () => {
    const service = get();
    service.proxy.fail(({ method }) => (method === 'POST' ? 'lost-answer' : undefined));
    const key = { 'idempotency-key': 'checkout-key-3' };
    const lost = await service.checkout({}, key);
    expect(lost).toMatchObject({ status: 500, body: { details: { reason: 'processor_unavailable' } } });
    expect(lost.headers.get('retry-after')).toBe('2');
    service.proxy.fail(undefined);
    const { sessionId } = (await service.checkout({}, key)).body;
    const keys = service
      .asked()
      .slice(-4)
      .map(({ idempotencyKey }) => idempotencyKey);
    expect(new Set(keys).size).toBe(1);
    const { sessions } = (await service.request(`${service.ready.urls.control}/processor/sessions`)).body;
    const made = sessions.filter(({ checkoutId }: { checkoutId: string }) => checkoutId === keys[0]);
    expect(made.map(({ id }: { id: string }) => id)).toEqual([sessionId]);
  });

  test('two requests without a key are two checkouts', async () => {
    const service = get();
    expect(await service.openSession()).not.toBe(await service.openSession());
  });
});
