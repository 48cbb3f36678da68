/** Signed bytes put together again from what a node shows of a transaction, for every form that wallets sign. */
import { type Hex, parseGwei, toHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RpcTransaction, signedBytesOf } from '../../src/chain/rpc/signed-transaction.ts';
import { type AnvilProcess, rpcTo, startAnvil } from '../kits/chain/chain.ts';

let anvil: AnvilProcess;
beforeAll(async () => {
  anvil = await startAnvil();
}, 60_000);
afterAll(() => anvil.stop());

const to = `0x${'c3'.repeat(20)}` as const;
const shared = { to, gas: 60_000n, value: 1n, data: '0x' as Hex };
test.each([
  ['eip1559', { maxFeePerGas: parseGwei('5'), maxPriorityFeePerGas: parseGwei('1') }],
  [
    'eip2930',
    { gasPrice: parseGwei('5'), accessList: [{ address: to, storageKeys: [toHex(1, { size: 32 })] }] },
  ],
  ['legacy', { gasPrice: parseGwei('5') }],
] as const)('%s: the same bytes', async (type, form) => {
  const rpc = rpcTo(anvil.url);
  const account = privateKeyToAccount(generatePrivateKey());
  await rpc('anvil_setBalance', [account.address, toHex(10n ** 18n)]);
  for (let nonce = 0; nonce < 3; nonce++) {
    const raw = await account.signTransaction({ ...shared, ...form, type, nonce, chainId: 31_337 } as never);
    const hash = await rpc('eth_sendRawTransaction', [raw]);
    const shown = (await rpc('eth_getTransactionByHash', [hash])) as RpcTransaction;
    expect(signedBytesOf(shown)).toBe(raw);
    expect(signedBytesOf({ ...shown, nonce: '0x63' })).toBeUndefined();
  }
});
