/** `requests explain` of relayed calls: each check in its order, the one that refused, and when the call would pass. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { settings } from '../../../src/compose/config.ts';
import { type RelayKit, startRelayKit } from '../../kits/chain/wallet.ts';
import type { Answer } from '../../kits/service/service.ts';

let kit: RelayKit;
beforeAll(async () => {
  kit = await startRelayKit({
    relay: { userLimit: { ...settings.relayHost.userLimit, limit: 2 } },
  });
});
afterAll(() => kit.stop());

/** What the emulator remembers of an answered request. */
async function explained(answer: Answer) {
  const id = answer.headers.get('x-request-id') ?? '';
  const { body } = await kit.request(`${kit.ready.urls.control}/requests/${id}`);
  expect(body.explained).toHaveLength(1);
  const [call] = body.explained;
  const refused = call.checks.filter(({ outcome }: { outcome: string }) => outcome === 'refused');
  return { body, call, refused };
}

test('a call that was sent: every check with its numbers, and the transaction', async () => {
  const { alice } = kit.users;
  const sent = await kit.relay(alice, { ...kit.purchase(alice.address), gasLimit: 200_000 });
  expect(sent.status).toBe(200);
  const { body, call, refused } = await explained(sent);
  expect(body).toMatchObject({
    decision: 'confirmed',
    call: 'purchaseFor',
    eventType: null,
    user: alice.address,
    brandId: kit.brand.brandId,
    transactionHash: sent.body.transactionHash,
    events: 0,
  });
  expect(refused).toEqual([]);
  expect(call).toMatchObject({ kind: 'relay', passesAt: null, never: null, reward: null });
  const texts = Object.fromEntries(
    call.checks.map(({ name, outcome, text }: Record<string, string>) => [name, `${outcome}: ${text}`]),
  );
  expect(texts).toMatchObject({
    contract: 'ok: perks',
    gas_limit: 'ok: 200000',
    function: 'ok: purchaseFor(address,uint256,uint256)',
    user_limit: 'ok: 1 of 2 calls in the hour',
    gas_wallet: `ok: the brand ${kit.brand.brandId} pays`,
    permit: 'skipped: none given',
    trial: expect.stringMatching(/^ok: would succeed, with up to \d+ gas$/),
    block: `ok: transaction ${sent.body.transactionHash}`,
  });
});

test('a call that was refused: the check, its text, and what lets it pass', async () => {
  const { alice, bob } = kit.users;
  const call = kit.purchase(alice.address);
  const cases: [Answer, string, RegExp, RegExp][] = [
    [await kit.send({}, { authorization: 'Bearer none' }), 'token', /^Unauthorized: /, /send a token/],
    [await kit.relay(alice, { to: 'x', data: '0x' }), 'fields', /to: must be an address/, /correct/],
    [
      await kit.relay(alice, { ...call, to: kit.users.bob.address }),
      'contract',
      /is not whitelisted/,
      /call one of the contracts/,
    ],
    [await kit.relay(alice, { ...call, userAddress: bob.address }), 'wallet', /not a wallet of/, /address/],
    [await kit.relay(alice, { ...call, gasLimit: 9_000_000 }), 'gas_limit', /9000000 is above/, /leave/],
    [await kit.relay(bob, call), 'function', /argument 1 of .* must be userAddress/, /correct the call/],
    [await kit.relay(alice, kit.purchase(alice.address, 999n)), 'trial', /would fail on chain/, /contract/],
  ];
  for (const [answer, check, text, or] of cases) {
    const { body, call: of, refused } = await explained(answer);
    expect([check, answer.status]).toEqual([check, body.status]);
    expect(refused).toEqual([
      {
        name: check,
        outcome: 'refused',
        text: expect.stringMatching(text),
        passesAt: null,
        or: expect.stringMatching(or),
      },
    ]);
    expect(of.never.check).toBe(check);
    expect(body.decision).toBe(answer.body.code.toLowerCase());
  }
});

test("over the user's limit: when the same call passes, and then it does", async () => {
  const { carol } = kit.users;
  const call = kit.purchase(carol.address);
  for (let sent = 0; sent < 2; sent++) expect((await kit.relay(carol, call)).status).toBe(200);
  const full = await kit.relay(carol, call);
  expect(full.status).toBe(429);
  const { call: of, refused } = await explained(full);
  expect(refused).toMatchObject([{ name: 'user_limit', passesAt: full.body.details.retryAt }]);
  expect(of).toMatchObject({ passesAt: full.body.details.retryAt, never: null, user: carol.address });
  await kit.advance('1h');
  expect((await kit.relay(carol, call)).status).toBe(200);
});
