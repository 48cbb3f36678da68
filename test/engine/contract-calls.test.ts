/** Calls of contracts as people write them, as users sign them, and what they would cost or say. */
import {
  decodeFunctionData,
  domainSeparator,
  encodeAbiParameters,
  encodeErrorResult,
  getAddress,
  type Hex,
  hexToBigInt,
  parseSignature,
  toFunctionSelector,
  toHex,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import {
  contractErrorsAbi,
  perkNFTAbi,
  pointsSaleAbi,
  rewardTokenAbi,
} from '../../src/chain/contracts/abis.ts';
import { contractNames, encodeCall, functionsOf } from '../../src/chain/contracts/calls/function-call.ts';
import { createL1FeeReader } from '../../src/chain/contracts/calls/l1-fee.ts';
import { contractNamed, readCall, revertReason } from '../../src/chain/contracts/calls/relay-calldata.ts';
import { simulateCalls } from '../../src/chain/contracts/calls/simulate.ts';
import { createPermitReader } from '../../src/chain/contracts/permit.ts';
import { createRewardToken } from '../../src/chain/contracts/reward-token.ts';
import { mintGasLimit, saleMintData } from '../../src/chain/contracts/sale-mint.ts';
import { createTokenSignatures } from '../../src/chain/contracts/token-signatures.ts';
import { keysDerivedFrom, keyTree, phraseOf } from '../../src/chain/lane/local-key.ts';
import { type Rpc, RpcAnswerError, RpcUnreachableError } from '../../src/chain/rpc/rpc.ts';
import { freshAddress, freshHash } from '../kits/databases/databases.ts';

const me = `0x${'ab'.repeat(20)}` as const;
const call = (name: string, args: string[], contract: Parameters<typeof encodeCall>[0] = 'perks') =>
  encodeCall(contract, { name, args, me });
/** What an argument of `setPerk(uint256,uint256,uint256,address,bool)` is read as; undefined when it is none. */
const asNumber = (text: string) => {
  const made = call('setPerk', [text, '1', '2', 'me', 'true']);
  return 'problem' in made ? undefined : made.args.perkId;
};

test("a paid session's mint calls the sale as its kind says, with the gas of that kind", () => {
  const mint = { key: `0x${'01'.repeat(32)}`, recipient: me, amount: 7 } as const;
  const read = (kind: 'wallet' | 'escrow') =>
    decodeFunctionData({ abi: pointsSaleAbi, data: saleMintData({ ...mint, kind }) });
  const names = { wallet: 'mintForPayment', escrow: 'mintIntoEscrow' };
  for (const kind of ['wallet', 'escrow'] as const) {
    expect(read(kind).functionName).toBe(names[kind]);
    expect(String(read(kind).args)).toBe(String([mint.key, getAddress(me), 7n]));
  }
  expect(mintGasLimit('escrow')).toBeGreaterThan(mintGasLimit('wallet'));
});

describe('a call by its name', () => {
  test('is encoded, with its arguments under the names that the contract gives them', () => {
    const made = call('setPerk', [' 7 ', '1_000', '0xff', 'me', 'false']);
    const args = { perkId: 7n, price: 1_000n, stock: 255n, brand: me, active: false };
    expect(call('setPerk', ['7', '1', '2', 'me', 'true'])).toMatchObject({ args: { active: true } });
    expect(made).toMatchObject({ signature: 'setPerk(uint256,uint256,uint256,address,bool)', args });
    const { data } = made as { data: Hex };
    const read = decodeFunctionData({ abi: perkNFTAbi, data });
    expect([read.functionName, read.args?.slice(0, 3)]).toEqual(['setPerk', [7n, 1_000n, 255n]]);
  });

  test('goes by its whole signature where several share a name, or by how many arguments it has', () => {
    const short = call('transfer', ['user', '5'], 'token');
    expect(short).toMatchObject({ signature: 'transfer(address,uint256)', args: { to: me } });
    const named = call('transfer(address, uint256)', ['me', '5'], 'token');
    expect(named).toEqual(short);
    const of = (count: number) => ['me', 'me', '1', '0', '1', `0x${'11'.repeat(32)}`, '27'].slice(0, count);
    expect(call('transferWithAuthorization', of(1), 'token')).toMatchObject({
      problem: { code: 'wrong_count', given: 1 },
    });
    expect(call('nothing', [], 'token')).toEqual({
      problem: { code: 'unknown_function', name: 'nothing', known: functionsOf('token') },
    });
    expect(functionsOf('token').length).toBeGreaterThan(5);
    // Functions that change nothing cannot be relayed.
    expect(functionsOf('token').join(' ')).not.toMatch(/balanceOf|decimals/);
  });

  test('takes values of every type that a function of ours has', () => {
    const types = contractNames
      .flatMap(functionsOf)
      .flatMap((signature) => /\((.*)\)/.exec(signature)?.[1]?.split(','));
    const others = types.filter(
      (type) => type && !/^(?:address|bool|u?int\d+|bytes\d*)(?:\[\])?$/.test(type),
    );
    expect([types.length > 40, others]).toEqual([true, []]);
  });

  test('says which argument is wrong', () => {
    expect(call('setPerk', ['1', '2', 'three', 'me', 'true'])).toEqual({
      problem: {
        code: 'wrong_argument',
        signature: 'setPerk(uint256,uint256,uint256,address,bool)',
        place: 2,
        name: 'stock',
        type: 'uint256',
        given: 'three',
      },
    });
  });

  test.each<[string, bigint | undefined]>([
    ['0', 0n],
    ['1_000_000', 1_000_000n],
    ['0x10', 16n],
    [String(2n ** 256n - 1n), 2n ** 256n - 1n],
    [String(2n ** 256n), undefined],
    ['-1', undefined],
    ['_1', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    ['0x', undefined],
    ['x1', undefined],
    ['1x', undefined],
    ['', undefined],
  ])('a number: %j', (text, expected) => {
    expect(asNumber(text)).toBe(expected);
  });

  test.each<[string, bigint | undefined]>([
    ['-5', -5n],
    ['5', 5n],
    [String(2n ** 255n - 1n), 2n ** 255n - 1n],
    [String(2n ** 255n), undefined],
    [String(-(2n ** 255n)), -(2n ** 255n)],
    [String(-(2n ** 255n) - 1n), undefined],
  ])('a number that may be negative: %j', (text, expected) => {
    const made = call('changeStock', ['1', text]);
    expect('problem' in made ? undefined : made.args.change).toBe(expected);
  });

  test.each<[string, string[], Parameters<typeof encodeCall>[0], boolean]>([
    ['setPerk', ['1', '1', '1', `0x${'Cd'.repeat(20)}`, 'true'], 'perks', true],
    ['setPerk', ['1', '1', '1', `0x${'cd'.repeat(19)}`, 'true'], 'perks', false],
    ['setPerk', ['1', '1', '1', `x0x${'cd'.repeat(20)}`, 'true'], 'perks', false],
    ['setPerk', ['1', '1', '1', `0x${'cd'.repeat(20)}0`, 'true'], 'perks', false],
    ['setPerk', ['1', '1', '1', 'me', 'yes'], 'perks', false],
    ['setPerk', ['1', '1', '1', 'me', ' true '], 'perks', true],
    ['transferBatch', ['0x'], 'token', true],
    ['transferBatch', ['0xAb'], 'token', true],
    ['transferBatch', ['0xabc'], 'token', false],
    ['transferBatch', ['ab'], 'token', false],
    ['transferBatch', ['00xab'], 'token', false],
    ['transferBatch', ['0xabc0g'], 'token', false],
    ['grantRole', [`0x${'11'.repeat(32)}`, 'me'], 'token', true],
    ['grantRole', [`0x${'11'.repeat(33)}`, 'me'], 'token', false],
    ['safeBatchTransferFrom', ['me', 'me', '[1,"2"]', '["3",4]', '0x'], 'perks', true],
    ['safeBatchTransferFrom', ['me', 'me', '[]', '[]', '0x'], 'perks', true],
    ['safeBatchTransferFrom', ['me', 'me', '[1,-2]', '[3,4]', '0x'], 'perks', false],
    ['safeBatchTransferFrom', ['me', 'me', '[1,[2]]', '[3,4]', '0x'], 'perks', false],
    ['safeBatchTransferFrom', ['me', 'me', '{}', '[3]', '0x'], 'perks', false],
    ['safeBatchTransferFrom', ['me', 'me', '[1', '[3]', '0x'], 'perks', false],
  ])('%s %j of %s is a call: %s', (name, args, contract, expected) => {
    const made = call(name, args, contract);
    expect('data' in made).toBe(expected);
  });
});

describe('call data', () => {
  const contracts = { token: me, escrow: freshAddress(), perks: freshAddress(), pointsSale: freshAddress() };
  test('names its contract, its function and its arguments, and only as an encoder writes them', () => {
    expect(contractNamed(contracts, me)).toBe('token');
    expect(contractNamed({ ...contracts, token: `0x${'AB'.repeat(20)}` }, me)).toBe('token');
    expect(contractNamed(contracts, freshAddress())).toBeUndefined();
    const { data } = call('transfer', ['me', '5'], 'token') as { data: Hex };
    const read = readCall('token', data);
    expect(read.signature).toBe('transfer(address,uint256)');
    expect(read.args.map(String).map((text) => text.toLowerCase())).toEqual([me, '5']);
    expect(readCall('token', `0x${data.slice(2).toUpperCase()}`)).toEqual({ signature: undefined, args: [] });
    const nothing = { signature: undefined, args: [] };
    expect(readCall('token', `${data}00`)).toEqual(nothing);
    expect(readCall('token', data.slice(0, -2) as Hex)).toEqual(nothing);
    expect(readCall('escrow', data)).toEqual(nothing);
    expect(readCall('token', '0x')).toEqual(nothing);
    expect(readCall('token', toFunctionSelector('totalSupply()'))).toEqual({
      signature: 'totalSupply()',
      args: [],
    });
  });

  test('that reverts says why in a line', () => {
    const data = encodeErrorResult({ abi: contractErrorsAbi, errorName: 'PerkSoldOut', args: [7n] });
    expect(revertReason(data)).toBe('PerkSoldOut(7)');
    for (const none of [undefined, '0x'] as const)
      expect(revertReason(none)).toBe('reverted without a reason');
    expect(revertReason('0x1234567890')).toBe('reverted with 0x12345678');
    const text = encodeAbiParameters([{ type: 'string' }], ['x'.repeat(300)]);
    expect(revertReason(`0x08c379a0${text.slice(2)}`)).toBe('x'.repeat(200));
    const hostile = encodeAbiParameters([{ type: 'string' }], ['a\u0000b\u001b[2J\nc']);
    expect(revertReason(`0x08c379a0${hostile.slice(2)}`)).toBe('a?b?[2J?c');
  });

  test('is tried out all at once: what each call used, or why it failed', async () => {
    const one = { from: me, to: me, data: '0x', valueWei: 5n, gas: 9n } as const;
    let asked: unknown;
    const answers = [
      { status: '0x1', gasUsed: '0x7', returnData: '0x' },
      { status: '0x0', gasUsed: '0x7', returnData: '0x1234567890', error: {} },
      { status: '0x0', gasUsed: '0x7', returnData: '0x', error: { data: '0x99999999' } },
    ];
    const rpc: Rpc = async (...request) => {
      asked = request;
      return [{ calls: answers }];
    };
    expect(await simulateCalls(rpc, [one, one, one])).toEqual([
      { succeeded: true, gasUsed: 7n },
      { succeeded: false, reason: 'reverted with 0x12345678' },
      { succeeded: false, reason: 'reverted with 0x99999999' },
    ]);
    const calls = Array(3).fill({ from: me, to: me, data: '0x', value: '0x5', gas: '0x9' });
    expect(asked).toEqual([
      'eth_simulateV1',
      [{ blockStateCalls: [{ calls }], validation: false, traceTransfers: false }, 'latest'],
    ]);
    await expect(simulateCalls(rpc, [one])).rejects.toThrow('an answer for other calls');
    await expect(simulateCalls(async () => [], [one])).rejects.toThrow('an answer for other calls');
  });
});

describe('what is read of contracts', () => {
  test('a balance is in whole RWT; decimals are asked for once, and again after a failure', async () => {
    const asked: string[] = [];
    let decimals: Hex | undefined;
    const rpc: Rpc = async (_, [of]) => {
      const { data } = of as { data: Hex };
      const { functionName } = decodeFunctionData({ abi: rewardTokenAbi, data });
      asked.push(functionName);
      if (functionName === 'balanceOf') return encodeAbiParameters([{ type: 'uint256' }], [12_345n]);
      if (!decimals) throw new RpcUnreachableError('eth_call', 'no answer');
      return decimals;
    };
    const token = createRewardToken({ rpc, address: me });
    await expect(token.balanceOf(me)).rejects.toThrow('no answer');
    decimals = encodeAbiParameters([{ type: 'uint8' }], [2]);
    expect([await token.balanceOf(me), await token.balanceOf(me)]).toEqual([123n, 123n]);
    expect(asked.filter((name) => name === 'decimals')).toHaveLength(2);
  });

  test('the fee of another chain: of the oracle where there is one, and nothing elsewhere', async () => {
    const asked: string[] = [];
    let code: Hex = '0x';
    let fee: Hex | Error = encodeAbiParameters([{ type: 'uint256' }], [77n]);
    const rpc: Rpc = async (method, [of]) => {
      asked.push(method);
      if (method === 'eth_getCode') return code;
      if (fee instanceof Error) throw fee;
      // The data and what lies around it: 2 and 150 bytes.
      expect((of as { data: string }).data).toContain(
        `${(152).toString(16).padStart(64, '0')}abcd${'ff'.repeat(150)}`,
      );
      return fee;
    };
    const none = createL1FeeReader({ rpc });
    expect([await none('0xabcd'), await none('0xabcd'), asked]).toEqual([0n, 0n, ['eth_getCode']]);
    code = '0x60';
    const there = createL1FeeReader({ rpc });
    expect([await there('0xabcd'), await there('0xabcd')]).toEqual([77n, 77n]);
    expect(asked.slice(1)).toEqual(['eth_getCode', 'eth_call', 'eth_call']);
    fee = new RpcAnswerError('eth_call', { code: 3, message: 'execution reverted' });
    expect(await there('0xabcd')).toBe(0n);
    fee = new RpcUnreachableError('eth_call', 'no answer');
    await expect(there('0xabcd')).rejects.toThrow('no answer');
  });
});

test('a permit is fresh, was used among the five before, or is not signed by its owner', async () => {
  const account = privateKeyToAccount(generatePrivateKey());
  const owner = account.address.toLowerCase() as Hex;
  const [token, spender, separator] = [freshAddress(), freshAddress(), freshHash()];
  const domain = { name: 'Reward Token', version: '1', chainId: 7, verifyingContract: token };
  const answers: Record<string, Hex> = {
    DOMAIN_SEPARATOR: domainSeparator({ domain }),
    allowance: encodeAbiParameters([{ type: 'uint256' }], [77n]),
  };
  let down = true;
  const rpc: Rpc = async (_, [of]) => {
    const { functionName } = decodeFunctionData({ abi: rewardTokenAbi, data: (of as { data: Hex }).data });
    if (down && functionName === 'DOMAIN_SEPARATOR') throw new RpcUnreachableError('eth_call', 'no answer');
    return answers[functionName];
  };
  const field = (name: string, type = 'uint256') => ({ name, type });
  const uints = ['value', 'nonce', 'deadline'].map((name) => field(name));
  const types = { Permit: [field('owner', 'address'), field('spender', 'address'), ...uints] };
  const message = { owner, spender, value: 5n, nonce: 9n, deadline: 99n };
  const signature = await account.signTypedData({ domain, types, primaryType: 'Permit', message });
  const { r, s, v } = parseSignature(signature);
  const permit = { owner, spender, value: 5n, deadlineSeconds: 99n, v: Number(v) as 27 | 28, r, s };
  const read = createPermitReader({ rpc, token });
  const at = (nonce: bigint, change: Partial<typeof permit> = {}) => {
    answers.nonces = encodeAbiParameters([{ type: 'uint256' }], [nonce]);
    return read({ ...permit, ...change });
  };
  await expect(at(9n)).rejects.toThrow('no answer');
  down = false;
  expect(await at(9n)).toEqual({ state: 'fresh' });
  for (const next of [10n, 14n]) expect(await at(next)).toEqual({ state: 'used', allowance: 77n });
  const no = { state: 'not_signed' };
  for (const next of [8n, 15n, 0n]) expect(await at(next)).toEqual(no);
  expect(await at(9n, { value: 6n })).toEqual(no);
  expect(await at(9n, { v: permit.v === 27 ? 28 : 27 })).toEqual(no);
  // The same signature's twin above half of the group's order, and numbers that are no part of one.
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const twin = toHex(order - hexToBigInt(s), { size: 32 });
  expect(await at(9n, { s: twin, v: permit.v === 27 ? 28 : 27 })).toEqual(no);
  expect(await at(9n, { r: toHex(0n, { size: 32 }) })).toEqual(no);
  answers.DOMAIN_SEPARATOR = separator;
  expect(await createPermitReader({ rpc, token })(permit)).toEqual(no);
});

test('permits, transfers and cancellations are signed over the token’s own domain', async () => {
  const account = privateKeyToAccount(generatePrivateKey());
  const signed: Parameters<typeof account.signTypedData>[0][] = [];
  const signer = {
    address: account.address,
    signTypedData: (data: object) => {
      signed.push(data as never);
      return account.signTypedData(data as never);
    },
  };
  const asked: string[] = [];
  const types = ['bytes1', 'string', 'string', 'uint256', 'address', 'bytes32', 'uint256[]'];
  const rpc: Rpc = async (_, [of]) => {
    const { data } = of as { data: Hex };
    const { functionName } = decodeFunctionData({ abi: rewardTokenAbi, data });
    asked.push(functionName);
    if (functionName === 'nonces') return encodeAbiParameters([{ type: 'uint256' }], [4n]);
    const values = ['0x0f', 'Reward Token', '1', 31_337n, me, `0x${'00'.repeat(32)}`, []];
    return encodeAbiParameters(
      types.map((type) => ({ type })),
      values,
    );
  };
  const signatures = createTokenSignatures({ rpc, token: me });
  const terms = { spender: freshAddress(), value: 5n, deadline: 99 };
  const permit = await signatures.permit(signer, terms);
  const owner = account.address;
  expect(permit).toMatchObject({ owner, spender: terms.spender, value: '5', deadline: 99 });
  expect([27, 28]).toContain(permit.v);
  const nonce = `0x${'11'.repeat(32)}` as const;
  const to = freshAddress();
  const transfer = await signatures.transfer(signer, { to, value: 6n, validBefore: 77, nonce });
  const cancel = await signatures.cancel(signer, nonce);
  const read = (data: Hex) => decodeFunctionData({ abi: rewardTokenAbi, data });
  expect(read(transfer)).toMatchObject({ functionName: 'transferWithAuthorization' });
  expect(read(transfer).args?.slice(2, 6)).toEqual([6n, 0n, 77n, nonce]);
  expect(read(cancel)).toMatchObject({ functionName: 'cancelAuthorization' });
  expect(read(cancel).args?.slice(0, 2)).toEqual([owner, nonce]);
  const domain = { name: 'Reward Token', version: '1', chainId: 31_337 };
  expect(signed).toMatchObject([
    {
      domain,
      primaryType: 'Permit',
      message: { owner, spender: terms.spender, value: 5n, nonce: 4n, deadline: 99n },
    },
    {
      domain,
      primaryType: 'TransferWithAuthorization',
      message: { from: owner, to, value: 6n, validAfter: 0n, validBefore: 77n, nonce },
    },
    { domain, primaryType: 'CancelAuthorization', message: { authorizer: owner, nonce } },
  ]);
  const fields = signed.map(({ types: of }) => Object.values(of as Record<string, object[]>)[0]?.length);
  expect(fields).toEqual([5, 6, 2]);
  expect(asked).toEqual(['nonces', 'eip712Domain']);
});

test('keys grow from a key or a phrase, each another, the same ones each time', () => {
  const key = generatePrivateKey();
  const keys = keysDerivedFrom(key);
  expect(keys(null).address).toBe(privateKeyToAccount(key).address);
  const grown = [keys(0), keys(1), keys(2)].map(({ address }) => address);
  expect(new Set(grown).size).toBe(3);
  expect(keysDerivedFrom(key)(1).address).toBe(grown[1]);
  const phrase = 'test test test test test test test test test test test junk';
  expect(keyTree(phrase).signerAt("m/44'/60'/0'/0/1").address).toBe(
    '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  );
  expect(keyTree(phrase).extendedPublicKeyAt('m/1')).toMatch(/^xpub/);
  expect(phraseOf(new Uint8Array(32)).split(' ')).toEqual([...Array(23).fill('abandon'), 'art']);
});
