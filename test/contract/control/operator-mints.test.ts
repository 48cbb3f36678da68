/** POST mints of the control API: RWT for an account, and never for an address where nobody could use it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freshAddress } from '../../kits/databases/databases.ts';
import { startTestService, type TestService } from '../../kits/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());
const mint = (to: string) => service.control('/mints', { to, amount: 7, reason: 'a gift' });

test('is answered once a block has it, with the transaction that minted', async () => {
  const account = freshAddress();
  const { status, body } = await mint(account);
  expect([status, body]).toEqual([
    201,
    {
      key: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      to: expect.any(String),
      amount: 7,
      reason: 'a gift',
      state: 'minted',
      failure: null,
      transaction: null,
      transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    },
  ]);
  expect(body.to.toLowerCase()).toBe(account);
  const { status: outcome } = await service.chain.getTransactionReceipt({ hash: body.transactionHash });
  expect([outcome, await service.balanceOf(account)]).toEqual(['success', 7n]);
});

test('the contracts and the zero address get none, however they are spelled', async () => {
  const { token, escrow, pointsSale } = service.ready.contracts as Record<string, string>;
  for (const [to = '', whose] of [
    [token, 'the token contract'],
    [escrow, 'the escrow contract'],
    [pointsSale?.toLowerCase(), 'the pointsSale contract'],
    [`0x${'0'.repeat(40)}`, 'the address of nobody'],
  ]) {
    const { status, body } = await mint(to);
    expect([status, JSON.stringify(body)]).toEqual([
      400,
      expect.stringMatching(new RegExp(`${to} is ${whose}: RWT there would belong to nobody`, 'i')),
    ]);
    expect(await service.balanceOf(to)).toBe(to === escrow ? await service.balanceOf(escrow) : 0n);
  }
});
