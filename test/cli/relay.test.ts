/** `rewards relay` as a shell sees it, against a real stack. */
import { recoverTypedDataAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { perkNFTAbi, rewardTokenAbi } from '../../src/chain/contracts/abis.ts';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { relayKitOf } from '../kits/chain/wallet.ts';
import { rewards, rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';
import { clientOf } from '../kits/service/service.ts';

let stack: Awaited<ReturnType<typeof serveHere>>;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
let client: ReturnType<typeof clientOf>;
let kit: Awaited<ReturnType<typeof relayKitOf>>;
const json = (...args: string[]) => rewardsJson(args, { cwd: project.path });
const plain = (...args: string[]) => rewards(args, { cwd: project.path });
const PRICE = 60n;

beforeAll(async () => {
  project = await temporaryDirectory();
  stack = await serveHere(['--port', '0', '--persist-to', 'data'], { cwd: project.path });
  client = clientOf(stack.ready);
  kit = await relayKitOf(stack.ready);
  await kit.setPerk(7n, PRICE);
  await json('send-event', 'referral', '--user', 'alice@demo.example');
}, 60_000);
afterAll(async () => {
  await stack.stop();
  await project.remove();
});

const address = (name: string) =>
  stack.ready.users.find(({ login }: { login: string }) => login === name).address as `0x${string}`;
const owned = (name: string, perkId: bigint) =>
  client.chain.readContract({
    address: stack.ready.contracts.perks,
    abi: perkNFTAbi,
    functionName: 'balanceOf',
    args: [address(name), perkId],
  });

describe('a call', () => {
  test('with a permit: a perk is bought by a user who has no gas', async () => {
    const balance = await client.balanceOf(address('alice'));
    const args = ['perks', 'purchaseFor', 'me', '7', String(PRICE), '--as', 'alice', '--permit'];
    const { code, envelope } = await json('relay', ...args);
    expect(envelope.error).toBeUndefined();
    expect(code).toBe(0);
    expect(envelope.data).toMatchObject({
      status: 200,
      headers: { 'x-ratelimit-limit': '35', 'x-ratelimit-remaining': '34' },
      body: { success: true, status: 'confirmed', to: stack.ready.contracts.perks },
    });
    expect(await owned('alice', 7n)).toBe(1n);
    expect(await client.balanceOf(address('alice'))).toBe(balance - PRICE);
    expect(await client.chain.getBalance({ address: address('alice') })).toBe(0n);

    const hash = envelope.data.body.transactionHash;
    const state = await json('relay', 'status', hash);
    expect(state.envelope.data.body).toMatchObject({ status: 'confirmed', transactionHash: hash });
    expect((await plain('relay', 'status', hash)).stdout).toMatch(/^confirmed {2}in block \d+/);
  });

  test('a transfer that the user signs here', async () => {
    const to = '0x00000000000000000000000000000000000000b0';
    const sent = await plain('relay', 'token', 'transferWithAuthorization', 'me', to, '5', '--as', 'alice');
    expect(sent).toMatchObject({ code: 0, stderr: '' });
    expect(sent.stdout).toMatch(
      /^200 {2}transferWithAuthorization {2}in block \d+ {2}\d+ gas at [\d.]+ gwei {2}tx 0x[0-9a-f]{64} {2}\d+ of 35 left/,
    );
    expect(await client.balanceOf(to)).toBe(5n);
  });

  test('raw: --to and --data, under a token of the caller', async () => {
    const { token } = (await json('token', 'issue', '--user', 'bob@demo.example')).envelope.data;
    const { token: to } = stack.ready.contracts;
    const raw = ['relay', '--to', to, '--data', '0xdeadbeef', '--token', token];
    const own = await json(...raw);
    expect([own.code, own.envelope.error]).toMatchObject([
      exitCodes.refused,
      { code: 'E_REFUSED', details: { status: 403, reason: 'unknown_function' } },
    ]);
    const others = await json(...raw, '--as', 'alice', '--expect', '403:not_your_wallet');
    expect(others.code).toBe(0);
  });

  test('the same key is the same call', async () => {
    const to = '0x00000000000000000000000000000000000000b1';
    const call = ['relay', 'token', 'transferWithAuthorization', 'me', to, '1', '--as', 'alice'];
    const first = await json(...call, '--idempotency-key', 'once');
    const other = await json(...call, '--idempotency-key', 'once', '--expect', '409:idempotency_key_reused');
    expect([first.code, other.code]).toEqual([0, 0]);
    expect(await client.balanceOf(to)).toBe(1n);
  });

  test('value and gas limit go along, and are refused for what they are', async () => {
    const call = ['relay', 'token', 'transferWithAuthorization', 'me', 'me', '0', '--as', 'carol'];
    const valued = await json(...call, '--value', '1', '--expect', '403:value_not_allowed');
    const heavy = await json(...call, '--gas-limit', '1000001', '--expect', '403:gas_over_limit');
    expect([valued.code, heavy.code]).toEqual([0, 0]);
  });
});

describe('a refusal', () => {
  test('shows code, why and reason, and the limit', async () => {
    const refused = await plain('relay', 'token', 'approve', 'me', '5', '--as', 'bob');
    expect(refused).toMatchObject({ code: exitCodes.refused, stdout: '' });
    expect(refused.stderr).toMatch(/^403 {2}VALIDATION_FAILED\n/);
    expect(refused.stderr).toContain('approve(address,uint256) may not be called through the relay');
    expect(refused.stderr).toMatch(/reason {2}function_not_allowed/);
    expect(refused.stderr).toMatch(/limit {3}35 of 35 left, back to 35 at \d{4}-/);
  });

  test('requests explain names the check, as for an event', async () => {
    const refused = await plain('relay', 'token', 'approve', 'me', '5', '--as', 'bob');
    expect(refused.code).toBe(exitCodes.refused);
    const line = (await plain('requests', 'list', '--path', '/relay', '--limit', '1')).stdout;
    expect(line).toMatch(
      /POST \/relay .* approve 0x[0-9a-f]{40} {2}validation failed {2}why: rewards requests explain/,
    );
    const [id = ''] = /req_[0-9a-f]{8}/.exec(line) ?? [];
    const { stdout } = await plain('requests', 'explain', id);
    expect(stdout).toMatch(
      /function +REFUSED {2}Transaction validation failed: approve\(address,uint256\) may not/,
    );
    expect(stdout).toContain('not reached: user limit, gas wallet');
  });

  test('--expect takes code or reason', async () => {
    const call = ['relay', 'token', 'approve', 'me', '5', '--as', 'bob', '--expect'];
    for (const answer of ['403', '403:VALIDATION_FAILED', '403:function_not_allowed', '4xx']) {
      expect((await plain(...call, answer)).code).toBe(0);
    }
    const other = await json(...call, '429:RATE_LIMIT_EXCEEDED');
    expect([other.code, other.envelope.error.code]).toEqual([exitCodes.refused, 'E_UNEXPECTED_ANSWER']);
  });
});

describe('usage', () => {
  test.each([
    [['relay'], 'The user is missing', '--as'],
    [['relay', '--as', 'alice'], 'The call is missing', 'rewards relay perks'],
    [['relay', 'perks', '--as', 'alice'], 'The call is missing', 'rewards relay perks'],
    [['relay', '--to', '0x1', '--as', 'alice'], 'belong together', 'Give both'],
    [['relay', 'perks', 'x', '--to', '0x1', '--as', 'alice'], 'exclude each other', 'Leave one'],
    [
      ['relay', 'perk', 'purchaseFor', '--as', 'alice'],
      'this stack has no contract named perk',
      'Did you mean perks?',
    ],
    [
      ['relay', 'perks', 'purchasefor', 'me', '--as', 'alice'],
      'no state-changing function purchasefor',
      'purchaseFor(',
    ],
    [
      ['relay', 'perks', 'balanceOf', 'me', '1', '--as', 'alice'],
      'no state-changing function balanceOf',
      'Its functions are',
    ],
    [
      ['relay', 'perks', 'purchaseFor', 'me', '1', '--as', 'alice'],
      'does not take 2 arguments',
      'one for each',
    ],
    [['relay', 'perks', 'purchaseFor', 'me', 'x', '1', '--as', 'alice'], 'argument 2 (perkId)', '256 bits'],
    [['relay', 'perks', 'purchaseFor', 'bob', '1', '1', '--as', 'alice'], 'argument 1 (buyer)', 'an address'],
    [
      ['relay', 'perks', 'purchaseFor', 'me', '1', '1', '--as', 'zoe'],
      'This stack does not know the user zoe',
      'alice@demo.example',
    ],
    [
      ['relay', 'perks', 'purchaseFor', 'me', '1', '1', '--as', 'alice', '--value', 'x'],
      '--value x',
      'whole number',
    ],
    [
      ['relay', 'perks', 'setApprovalForAll', 'me', 'yes', '--as', 'alice'],
      'argument 2 (approved)',
      'true or false',
    ],
    [
      ['relay', 'permit', '--as', 'alice', '--spender', 'shop', '--value', '1'],
      'shop is neither the name of a contract nor an address',
      'an address',
    ],
  ] as [string[], string, string][])('%j', async (args, said, fix) => {
    const finished = await plain(...args);
    expect(finished).toMatchObject({ code: exitCodes.usage, stdout: '' });
    expect(finished.stderr).toContain(said);
    expect(finished.stderr).toContain(fix);
  });

  test('an amount is as good a value for a permit as a price', async () => {
    const call = ['relay', 'escrow', 'deposit', 'me', '5', '--as', 'alice', '--permit'];
    expect((await plain(...call, '--expect', '403:function_not_allowed')).code).toBe(0);
  });

  test('a permit without a value that is known', async () => {
    const call = ['relay', 'token', 'cancelAuthorization', 'me', `0x${'1'.repeat(64)}`, '27'];
    const words = [`0x${'1'.repeat(64)}`, `0x${'1'.repeat(64)}`];
    const finished = await plain(...call, ...words, '--as', 'alice', '--permit');
    expect(finished).toMatchObject({ code: exitCodes.usage });
    expect(finished.stderr).toContain('--permit-value');
  });

  test('another target does not tell its contracts', async () => {
    const { code, envelope } = await rewardsJson([
      ...['relay', 'perks', 'purchaseFor', 'me', '1', '1', '--token', `e30.${btoa('{"wallets":["0x1"]}')}.x`],
      ...['--target', stack.ready.urls.events],
    ]);
    expect([code, envelope.error.hint]).toEqual([
      exitCodes.unreachable,
      expect.stringContaining('--to and --data'),
    ]);
  });
});

describe('permit', () => {
  test('is signed by the user for the token of this chain', async () => {
    const { envelope } = await json(
      ...[
        'relay',
        'permit',
        '--as',
        'carol@demo.example',
        '--spender',
        'perks',
        '--value',
        '100',
        '--deadline',
        '2h',
      ],
    );
    const permit = envelope.data;
    expect(permit).toMatchObject({
      owner: address('carol'),
      spender: stack.ready.contracts.perks,
      value: '100',
    });
    const leftMs = permit.deadline * 1_000 - Date.now();
    expect(Math.abs(leftMs - 7_200_000)).toBeLessThan(60_000);
    const nonce = await client.chain.readContract({
      address: stack.ready.contracts.token,
      abi: rewardTokenAbi,
      functionName: 'nonces',
      args: [address('carol')],
    });
    const signer = await recoverTypedDataAddress({
      domain: {
        name: 'Reward Token',
        version: '1',
        chainId: stack.ready.chain.id,
        verifyingContract: stack.ready.contracts.token,
      },
      types: {
        Permit: [
          'owner:address',
          'spender:address',
          'value:uint256',
          'nonce:uint256',
          'deadline:uint256',
        ].map((field) => ({ name: field.split(':')[0] ?? '', type: field.split(':')[1] ?? '' })),
      },
      primaryType: 'Permit',
      message: { ...permit, value: 100n, nonce, deadline: BigInt(permit.deadline) },
      signature: `${permit.r}${permit.s.slice(2)}${permit.v.toString(16)}` as `0x${string}`,
    });
    expect(signer).toBe(address('carol'));
  });

  test('somebody else’s wallet cannot be signed for', async () => {
    const stranger = await json('relay', 'permit', '--as', 'zoe', '--spender', 'perks', '--value', '1');
    expect(stranger.code).toBe(exitCodes.usage);
    const { token } = (await json('token', 'issue', '--user', 'bob@demo.example')).envelope.data;
    const call = ['relay', 'perks', 'purchaseFor', 'me', '7', '1', '--permit', '--token', token];
    const { code, envelope } = await json(...call);
    expect([code, envelope.error.code]).toEqual([exitCodes.precondition, 'E_NO_USER_KEY']);
  });
});

test('the 36th in an hour is refused, and passes when the window is over', async () => {
  const call = ['relay', 'perks', 'purchaseFor', 'me', '1', '0', '--as', 'bob'];
  const first = await json(...call);
  const { users, relay, purchase } = kit;
  const left = Number(first.envelope.data.headers['x-ratelimit-remaining']);
  const others = Array.from({ length: left }, () => relay(users.bob, purchase(users.bob.address)));
  expect(new Set((await Promise.all(others)).map(({ status }) => status))).toEqual(new Set([200]));
  const refused = await json(...call);
  expect([refused.code, refused.envelope.data]).toMatchObject([
    exitCodes.refused,
    { status: 429, headers: { 'x-ratelimit-remaining': '0' }, body: { code: 'RATE_LIMIT_EXCEEDED' } },
  ]);
  expect(refused.envelope.error).toMatchObject({ retryable: true, details: { reason: 'user' } });
  expect((await plain(...call)).stderr).toMatch(/passes {2}in [\dhms]+ \(rewards clock advance/);
  expect((await plain(...call, '--expect', '429:RATE_LIMIT_EXCEEDED')).code).toBe(0);
  await json('clock', 'advance', '1h');
  expect((await json(...call, '--expect', '200')).code).toBe(0);
}, 120_000);

test('help names the verbs and shows examples', async () => {
  const help = await plain('relay', '--help');
  for (const word of ['call', 'permit', 'status', 'perks purchaseFor']) expect(help.stdout).toContain(word);
  const options = await plain('relay', 'call', '--help');
  for (const word of ['--as', '--permit', '--expect', '--idempotency-key'])
    expect(options.stdout).toContain(word);
});
