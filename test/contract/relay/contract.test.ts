/** contract: POST relay, Relay request, Relay result, Relay errors; one test a row. */
import { encodeFunctionData, type Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  businessEscrowAbi,
  perkNFTAbi,
  pointsSaleAbi,
  rewardTokenAbi,
} from '../../../src/chain/contracts/abis.ts';
import { FREE_PERK, filled, type RelayKit, startRelayKit, type User } from '../../kits/chain/wallet.ts';
import { databaseKinds, type TestDatabase } from '../../kits/databases/databases.ts';

describe.each(databaseKinds)('contract: POST relay (on $kind)', ({ kind, open }) => {
  let kit: RelayKit;
  let database: TestDatabase;
  let alice: User;
  let bob: User;
  beforeAll(async () => {
    database = await open();
    kit = await startRelayKit({ databaseUrl: database.databaseUrl });
    ({ alice, bob } = kit.users);
  }, 60_000);
  afterAll(async () => {
    await kit?.stop();
    await database?.stop();
  });

  const refusedWith = async (answer: ReturnType<RelayKit['relay']>, status: number, code: string) => {
    const { body, status: got, headers } = await answer;
    expect([got, body.code]).toEqual([status, code]);
    expect(body.error).toEqual(expect.any(String));
    expect(body.details).toEqual(expect.any(Object));
    for (const name of ['limit', 'remaining', 'reset'])
      expect(headers.get(`x-ratelimit-${name}`)).toMatch(/^\d+$/);
    return body;
  };
  const invalid = (body: Record<string, unknown>) =>
    kit.relay(alice, { ...kit.purchase(alice.address), ...body });

  test('Relay result: both forms, when the call is in a block', async () => {
    const before = await kit.perksOf(alice.address, FREE_PERK);
    const { body, status, headers } = await kit.relay(alice, {
      ...kit.purchase(alice.address),
      metadata: { action: 'purchase', perkId: '1' },
    });
    expect(status).toBe(200);
    const receipt = await kit.chain.getTransactionReceipt({ hash: body.transactionHash });
    expect(body).toEqual({
      success: true,
      status: 'confirmed',
      transactionHash: receipt.transactionHash,
      gasUsed: String(receipt.gasUsed),
      effectiveGasPrice: String(receipt.effectiveGasPrice),
      blockNumber: Number(receipt.blockNumber),
      from: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      to: kit.contracts.perks,
      explorerUrl: `https://explorer.rewards.localhost/tx/${receipt.transactionHash}`,
    });
    expect([receipt.from, receipt.to]).toEqual([body.from.toLowerCase(), body.to.toLowerCase()]);
    expect(headers.get('access-control-allow-origin')).toBe('https://demo.example');
    expect(await kit.perksOf(alice.address, FREE_PERK)).toBe(before + 1n);
  });

  test("the sender is the gas wallet of the perk's brand, which holds no tokens, on whatever page", async () => {
    const { body } = await kit.relay(alice, kit.purchase(alice.address));
    const { body: detail } = await kit.request(`${kit.ready.urls.control}/brands/${kit.brand.brandId}`);
    expect(detail.gasWallet).toEqual({ address: body.from, ready: true });
    expect(await kit.tokensOf(body.from)).toBe(0n);
    const elsewhere = await kit.relay(alice, kit.purchase(alice.address), { origin: 'http://localhost' });
    expect(elsewhere.status).toBe(200);
    expect(elsewhere.body.from).toBe(body.from);
  });

  describe('GET relay/<hash>', () => {
    const status = (hash: string) => kit.request(`${kit.ready.urls.relay}/relay/${hash}`);
    test('tells the state of a call', async () => {
      const { body } = await kit.relay(alice, kit.purchase(alice.address));
      const { status: code, body: state } = await status(
        body.transactionHash.toUpperCase().replace('0X', '0x'),
      );
      expect([code, state]).toEqual([200, body]);
    });
    test('unknown and malformed hashes', async () => {
      expect((await status(filled(1, 32))).body.code).toBe('NOT_FOUND');
      const malformed = await status('0x12');
      expect([malformed.status, malformed.body.code]).toEqual([400, 'INVALID_HASH']);
    });
  });

  describe('Idempotency-Key', () => {
    test('the same request again gets the same answer, and is sent once', async () => {
      const before = await kit.perksOf(bob.address, FREE_PERK);
      const body = kit.purchase(bob.address);
      const headers = { 'idempotency-key': 'buy-1' };
      const answers = await Promise.all([1, 2, 3].map(() => kit.relay(bob, body, headers)));
      const [first] = answers;
      expect(first?.status).toBe(200);
      for (const answer of answers) expect(answer.body).toEqual(first?.body);
      expect(await kit.perksOf(bob.address, FREE_PERK)).toBe(before + 1n);
      const other = await kit.relay(bob, { ...body, gasLimit: 500_000 }, headers);
      expect([other.status, other.body.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
      const somebody = await kit.relay(alice, kit.purchase(alice.address), headers);
      expect(somebody.status).toBe(200);
    });
    test('a malformed key', async () => {
      const answer = await kit.relay(bob, kit.purchase(bob.address), { 'idempotency-key': 'a b' });
      expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_FIELDS']);
    });
  });

  // What follows is decided before the ledger is asked, or without it.
  if (kind !== 'sqlite') return;

  describe('Relay request', () => {
    test.each(['to', 'data', 'userAddress'])('%s: required', async (field) => {
      for (const value of [undefined, null, '']) {
        const { details } = await refusedWith(invalid({ [field]: value }), 400, 'MISSING_FIELDS');
        expect(details.missing).toEqual([field]);
      }
    });
    test.each<[string, unknown]>([
      ['to', '0x123'],
      ['to', 42],
      ['data', 'purchase'],
      ['data', '0x123'],
      ['userAddress', 'alice'],
      ['value', '-1'],
      ['value', '1.5'],
      ['value', String(2n ** 256n)],
      ['value', {}],
      ['gasLimit', 0],
      ['gasLimit', 1.5],
      ['gasLimit', 'much'],
      ['gasLimit', '0x'],
      ['gasLimit', '99999999999999999999'],
      ['metadata', 'text'],
      ['permit', {}],
      ['permit', { owner: 1 }],
    ])('%s: %j has not its form', async (field, value) => {
      const { details } = await refusedWith(invalid({ [field]: value }), 400, 'INVALID_FIELDS');
      expect(details.errors[0]).toContain(field);
    });
    test.each([
      { value: '0' },
      { value: '0x0' },
      { value: '', gasLimit: '' },
      { gasLimit: '500000' },
      { gasLimit: '0x7a120' },
    ])('spellings of numbers: %j', async (fields) => {
      expect((await invalid(fields)).status).toBe(200);
    });
    test('permit.v as a text is read like the number', async () => {
      const permit = await kit.permit(alice);
      for (const v of [String(permit.v), `0x${permit.v.toString(16)}`]) {
        const { details } = await refusedWith(
          kit.relay(alice, { ...kit.purchase(alice.address, 999n), permit: { ...permit, v } }),
          403,
          'VALIDATION_FAILED',
        );
        expect(details.reason).toBe('would_fail');
      }
    });
    test('an empty body, or an empty object, lacks its fields', async () => {
      const headers = { authorization: `Bearer ${alice.token}` };
      for (const body of ['', '{}', '  ']) {
        const answer = await kit.send(body, headers);
        expect([answer.status, answer.body.code]).toEqual([400, 'MISSING_FIELDS']);
        expect(answer.body.details.missing).toEqual(['to', 'data', 'userAddress']);
      }
    });
    test('addresses in any case', async () => {
      const { address } = alice.account;
      const upper = `0x${kit.contracts.perks.slice(2).toUpperCase()}`;
      const answer = await kit.relay(alice, {
        ...kit.purchase(alice.address),
        to: upper,
        userAddress: address,
      });
      expect(answer.status).toBe(200);
    });
    test('not JSON, no object, and more than 64 KB', async () => {
      const headers = { authorization: `Bearer ${alice.token}` };
      expect((await kit.send('{', headers)).body.code).toBe('INVALID_BODY');
      expect((await kit.send('[]', headers)).body.code).toBe('INVALID_FIELDS');
      expect((await kit.send('{"__proto__":{}}', headers)).status).toBe(400);
      const large = await kit.send({ data: `0x${'00'.repeat(40_000)}` }, headers);
      expect([large.status, large.body.code]).toEqual([413, 'BODY_TOO_LARGE']);
    });
  });

  describe('Authentication', () => {
    test.each<[string, Record<string, string>]>([
      ['no token', { authorization: '' }],
      ['no bearer', { authorization: 'Basic YWxpY2U6' }],
      ['no JWT', { authorization: 'Bearer abc' }],
    ])('%s: 401', async (_, headers) => {
      const answer = kit.relay(alice, kit.purchase(alice.address), headers);
      await refusedWith(answer, 401, 'UNAUTHORIZED');
      expect((await answer).headers.get('www-authenticate')).toBe('Bearer');
    });
    test('the token of another user: 403', async () => {
      const answer = kit.relay({ ...alice, token: bob.token }, kit.purchase(alice.address));
      const { details } = await refusedWith(answer, 403, 'VALIDATION_FAILED');
      expect(details.reason).toBe('not_your_wallet');
    });
    test('a mailbox at the own domain, where only chat users have names: 403', async () => {
      const chatUser = await kit.keyless('discord_5@rewards.localhost');
      const answer = kit.relay({ ...alice, ...chatUser }, kit.purchase(chatUser.address));
      const { details } = await refusedWith(answer, 403, 'VALIDATION_FAILED');
      expect(details.reason).toBe('not_your_wallet');
    });
    test('CORS: a preflight names the origin of the brand, and no foreign one', async () => {
      const preflight = (origin: string) =>
        kit.request(`${kit.ready.urls.relay}/relay`, {
          method: 'OPTIONS',
          headers: { origin, 'access-control-request-method': 'POST' },
        });
      const own = await preflight('https://shop.demo.example');
      expect([own.status, own.headers.get('access-control-allow-origin')]).toEqual([
        204,
        'https://shop.demo.example',
      ]);
      const foreign = await preflight('https://evil.example');
      expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
    });
  });

  describe('Relay errors', () => {
    test('CONTRACT_NOT_WHITELISTED: names the contract and those that are allowed', async () => {
      const stranger = filled(7, 20);
      const { details } = await refusedWith(invalid({ to: stranger }), 403, 'CONTRACT_NOT_WHITELISTED');
      expect(details).toMatchObject({ contract: stranger, allowed: Object.values(kit.contracts) });
    });

    const call = (functionName: string, args: unknown[]) => {
      for (const [name, abi] of Object.entries({
        token: rewardTokenAbi,
        perks: perkNFTAbi,
        escrow: businessEscrowAbi,
        pointsSale: pointsSaleAbi,
      })) {
        const known = abi.some((one) => one.type === 'function' && one.name === functionName);
        if (known)
          return [name, encodeFunctionData({ abi: abi as never, functionName, args } as never)] as const;
      }
      throw new Error(functionName);
    };
    const someone = filled(9, 20);
    const word = filled(1, 32);
    test.each<[string, unknown[]]>([
      ['transfer', [someone, 1n]],
      ['approve', [someone, 1n]],
      ['mint', [someone, 1n]],
      ['collect', [someone, 1n]],
      ['grantRole', [word, someone]],
      ['renounceRole', [word, someone]],
      ['setMinterCap', [someone, 1n]],
      ['transferBatch', ['0x']],
      ['setApprovalForAll', [someone, true]],
      ['purchase', [1n, 0n]],
      ['setPerk', [1n, 0n, 0n, someone, true]],
      ['safeTransferFrom', [someone, someone, 1n, 1n, '0x']],
      ['deposit', [someone, 1n]],
      ['withdraw', [1n]],
      ['distributePacked', ['0x']],
      ['mintForPayment', [word, someone, 1n]],
      ['mintIntoEscrow', [word, someone, 1n]],
    ])('VALIDATION_FAILED: %s may not be called', async (name, args) => {
      const [contract, data] = call(name, args);
      const { details } = await refusedWith(
        kit.relay(alice, { to: kit.contracts[contract as 'token'], data }),
        403,
        'VALIDATION_FAILED',
      );
      expect(details).toMatchObject({
        reason: 'function_not_allowed',
        allowed: Object.values(kit.contracts),
      });
      expect(details.contract.toLowerCase()).toBe(kit.contracts[contract as 'token'].toLowerCase());
    });
    test.each<[string, (data: Hex) => string]>([
      ['no data', () => '0x'],
      ['an unknown selector', () => '0xdeadbeef'],
      ['too short', (data) => data.slice(0, -2)],
      ['bytes left over', (data) => `${data}00`],
      ['a dirty address', (data) => `${data.slice(0, 10)}01${data.slice(12)}`],
    ])('VALIDATION_FAILED: %s', async (_, change) => {
      const { data } = kit.purchase(alice.address);
      const { details } = await refusedWith(invalid({ data: change(data) }), 403, 'VALIDATION_FAILED');
      expect(details.reason).toBe('unknown_function');
    });
    test('VALIDATION_FAILED: for somebody else', async () => {
      const { details } = await refusedWith(
        kit.relay(alice, kit.purchase(bob.address)),
        403,
        'VALIDATION_FAILED',
      );
      expect(details).toMatchObject({ reason: 'not_the_user', argument: 0 });
    });
    test('VALIDATION_FAILED: native currency goes with nothing', async () => {
      const { details } = await refusedWith(invalid({ value: '1' }), 403, 'VALIDATION_FAILED');
      expect(details.reason).toBe('value_not_allowed');
    });
    test('Limits, Relay gas: 1,000,000 passes, one more does not', async () => {
      expect((await invalid({ gasLimit: 1_000_000 })).status).toBe(200);
      const { details } = await refusedWith(invalid({ gasLimit: 1_000_001 }), 403, 'VALIDATION_FAILED');
      expect(details).toMatchObject({ reason: 'gas_over_limit', gasMax: 1_000_000 });
    });
    test('VALIDATION_FAILED: too little gas is noticed before anything is sent', async () => {
      const { details } = await refusedWith(invalid({ gasLimit: 30_000 }), 403, 'VALIDATION_FAILED');
      expect(details.reason).toBe('would_fail');
    });
    test('VALIDATION_FAILED: what would fail on chain says why', async () => {
      const answer = kit.relay(alice, kit.purchase(alice.address, 999n));
      const { details, error } = await refusedWith(answer, 403, 'VALIDATION_FAILED');
      expect(details.reason).toBe('would_fail');
      expect(error).toContain('PerkNotActive(999)');
    });
    test('a refused call costs nothing', async () => {
      const remaining = async () =>
        Number((await invalid({ gasLimit: 2_000_000 })).headers.get('x-ratelimit-remaining'));
      expect(await remaining()).toBe(await remaining());
    });
    test('405 for another method, 404 for what is not there, in the form of this host', async () => {
      const other = await kit.request(`${kit.ready.urls.relay}/relay`);
      expect([other.status, other.body.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
      const { status, body } = await kit.request(`${kit.ready.urls.relay}/relay/one/two`);
      expect(status).toBe(404);
      expect(body.code).toBe('UNKNOWN_ENDPOINT');
    });
  });
});
