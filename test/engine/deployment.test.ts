/** A deployment against a node that says what a test tells it: its steps, what it signs, and how contracts are known again. */
import {
  type Abi,
  decodeDeployData,
  decodeFunctionData,
  encodeFunctionResult,
  getAddress,
  type Hex,
  keccak256,
  numberToHex,
  parseTransaction,
  toFunctionSelector,
  toHex,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import {
  businessEscrowAbi,
  perkNFTAbi,
  pointsSaleAbi,
  rewardTokenAbi,
} from '../../src/chain/contracts/abis.ts';
import {
  businessEscrowArtifact,
  perkNftArtifact,
  pointsSaleArtifact,
  rewardTokenArtifact,
} from '../../src/chain/contracts/artifacts.ts';
import { contractProblemText, contractsAt, deployContracts } from '../../src/chain/contracts/deploy.ts';
import {
  contractAddresses,
  type DeploymentStep,
  deploymentSteps,
  roleId,
} from '../../src/chain/contracts/deployment-steps.ts';
import { accountPower, heldTokens } from '../../src/chain/contracts/roles.ts';
import type { Rpc } from '../../src/chain/rpc/rpc.ts';
import { freshAddress } from '../kits/databases/databases.ts';

const GWEI = 10n ** 9n;
const signer = privateKeyToAccount(generatePrivateKey());
const deployer = signer.address;
const [admin, distributor, operator, redeemer, perkAdmin, relayer, other] = Array.from({ length: 7 }, () =>
  getAddress(freshAddress()),
) as [Hex, Hex, Hex, Hex, Hex, Hex, Hex];
const addresses = contractAddresses({ deployer, firstNonce: 7 });
const { token, escrow, perks, pointsSale } = addresses;
const all = { deployer, admin, distributor, operator, redeemer, perkAdmin, relayers: [relayer, other] };

const built = [
  [rewardTokenArtifact, rewardTokenAbi, [deployer]],
  [businessEscrowArtifact, businessEscrowAbi, [token, deployer]],
  [perkNftArtifact, perkNFTAbi, [token, escrow, deployer, '']],
  [pointsSaleArtifact, pointsSaleAbi, [token, escrow, deployer]],
] as const;

/** A call as its bytes say it: the contract, the function and its arguments. */
const said = ({ to, data }: Pick<DeploymentStep, 'to' | 'data'>) => {
  const { functionName, args } = decodeFunctionData({ abi: rewardTokenAbi, data });
  return [to, functionName, ...(args ?? [])];
};
const grant = (to: Hex, role: string, account: Hex) => [to, 'grantRole', roleId(role), account];

test('a role is the hash of its name, and the one of an admin is nothing', () => {
  expect(roleId('MINTER_ROLE')).toBe(keccak256(toHex('MINTER_ROLE')));
  expect(roleId('')).toBe(`0x${'0'.repeat(64)}`);
});

test('the contracts come first, each with what it is made of and the gas for it at its dearest', () => {
  const steps = deploymentSteps(addresses, all).slice(0, 4);
  expect(steps.map(({ title }) => title)).toEqual([
    `new RewardToken(${deployer})`,
    `new BusinessEscrow(${token}, ${deployer})`,
    `new PerkNFT(${token}, ${escrow}, ${deployer}, '')`,
    `new PointsSale(${token}, ${escrow}, ${deployer})`,
  ]);
  for (const [place, [artifact, abi, args]] of built.entries()) {
    const { data, value, gas, to } = steps[place] as DeploymentStep;
    expect(decodeDeployData({ abi: abi as Abi, bytecode: artifact.bytecode, data }).args).toEqual(args);
    expect([to, value]).toEqual([undefined, 0n]);
    const codeBytes = BigInt((artifact.deployedBytecode.length - 2) / 2);
    const initBytes = BigInt((data.length - 2) / 2);
    // The mark 0x counts as a byte of each.
    expect(gas).toBe(553_000n + 17n * (initBytes + 1n) + 200n * (codeBytes + 1n));
  }
  const [, , named] = deploymentSteps(addresses, all, { perkUri: 'ipfs://x/{id}' });
  expect(named?.title).toBe(`new PerkNFT(${token}, ${escrow}, ${deployer}, ipfs://x/{id})`);
});

test('then come links, roles, gas money and the hand-over, in this order', () => {
  const steps = deploymentSteps(addresses, all, { mintCap: 5n, redemptionCap: 6n, gasMoneyWei: 9n }).slice(4);
  const money = steps.filter(({ data }) => data === '0x');
  const calls = steps.filter(({ data }) => data !== '0x');
  const contracts = [token, escrow, perks, pointsSale];
  expect(calls.map(said)).toEqual([
    grant(token, 'MINTER_ROLE', pointsSale),
    [token, 'setMinterCap', pointsSale, 5n],
    grant(token, 'REDEEMER_ROLE', escrow),
    [token, 'setCollectCap', 6n],
    grant(escrow, 'DISTRIBUTOR_ROLE', distributor),
    grant(escrow, 'REDEMPTION_ROLE', perks),
    grant(pointsSale, 'OPERATOR_ROLE', operator),
    grant(perks, 'REDEEMER_ROLE', redeemer),
    grant(perks, 'PERK_ADMIN_ROLE', perkAdmin),
    grant(perks, 'RELAYER_ROLE', relayer),
    grant(perks, 'RELAYER_ROLE', other),
    ...contracts.map((contract) => grant(contract, '', admin)),
    ...contracts.map((contract) => [contract, 'renounceRole', roleId(''), deployer]),
  ]);
  for (const { value, gas } of calls) expect([value, gas]).toEqual([0n, 120_000n]);
  expect(steps.indexOf(money[0] as DeploymentStep)).toBe(11);
  expect(money).toEqual(
    [distributor, operator, redeemer, relayer, other].map((to) => ({
      title: `gas money to ${to}`,
      to,
      data: '0x',
      value: 9n,
      gas: 30_000n,
    })),
  );
  expect(steps.map(({ title }) => title)).toEqual(
    expect.arrayContaining([
      `token.grantRole(MINTER_ROLE, ${pointsSale})`,
      `token.setMinterCap(${pointsSale}, 5)`,
      `pointsSale.grantRole(DEFAULT_ADMIN_ROLE, ${admin})`,
      `perks.renounceRole(DEFAULT_ADMIN_ROLE, ${deployer})`,
    ]),
  );
});

test('roles without a named account are left out, and an admin who stays hands nothing over', () => {
  const same = deployer.toLowerCase() as Hex;
  const few = { deployer, admin: same, distributor, relayers: [] };
  const calls = deploymentSteps(addresses, few).slice(4);
  expect(calls.map(said)).toEqual([
    grant(token, 'MINTER_ROLE', pointsSale),
    [token, 'setMinterCap', pointsSale, 10n ** 15n],
    grant(token, 'REDEEMER_ROLE', escrow),
    [token, 'setCollectCap', 1_000_000n],
    grant(escrow, 'DISTRIBUTOR_ROLE', distributor),
    grant(escrow, 'REDEMPTION_ROLE', perks),
  ]);
  const money = deploymentSteps(addresses, few, { gasMoneyWei: 1n }).filter(({ value }) => value === 1n);
  expect(money.map(({ to }) => to)).toEqual([distributor]);
});

/** A chain of which the deployer's next nonce is 7; its receipts come after `looks` of them. */
function chain({ looks = 0, status = '0x1', latest = { baseFeePerGas: '0x5' } as object } = {}) {
  const sent: Hex[] = [];
  const asked: string[] = [];
  let open = looks;
  let sleptMs = 0;
  const rpc: Rpc = async (method, params) => {
    asked.push(method);
    if (method === 'eth_chainId') return '0x2a';
    if (method === 'eth_getTransactionCount') return params[1] === 'pending' ? '0x7' : '0x0';
    if (method === 'eth_getBlockByNumber') return latest;
    if (method === 'eth_sendRawTransaction') {
      sent.push(params[0] as Hex);
      return keccak256(params[0] as Hex);
    }
    if (open-- > 0) return null;
    const place = sent.findIndex((raw) => keccak256(raw) === params[0]);
    return { status, blockNumber: numberToHex(100 + place) };
  };
  const sleep = async (ms: number) => {
    sleptMs += ms;
  };
  return { deps: { rpc, sleep }, sent, asked, sleptMs: () => sleptMs };
}
const accounts = { admin: signer, distributor, operator, redeemer, perkAdmin, relayers: [relayer] };

test('a deployment signs every step under its own nonce, sends all of them, and then waits for each', async () => {
  const { deps, sent, asked, sleptMs } = chain({ looks: 2 });
  expect(await deployContracts(deps, accounts)).toEqual({ ...addresses, block: 100n });
  const steps = deploymentSteps(addresses, { ...accounts, deployer, admin: deployer });
  expect(sent).toHaveLength(steps.length);
  for (const [place, raw] of sent.entries()) {
    const { type, chainId, nonce, to, data, gas, maxFeePerGas, maxPriorityFeePerGas } = parseTransaction(raw);
    const step = steps[place] as DeploymentStep;
    expect({ type, chainId, nonce, gas, data, to: to ?? undefined }).toEqual({
      type: 'eip1559',
      chainId: 42,
      nonce: 7 + place,
      gas: step.gas,
      data: step.data,
      to: step.to?.toLowerCase(),
    });
    expect([maxFeePerGas, maxPriorityFeePerGas]).toEqual([10n + GWEI, GWEI]);
  }
  expect(asked.indexOf('eth_getTransactionReceipt')).toBeGreaterThan(
    asked.lastIndexOf('eth_sendRawTransaction'),
  );
  expect(sleptMs()).toBe(5);
});

test('a deployment offers what it is told to, and asks no block for it', async () => {
  const { deps, sent, asked } = chain();
  await deployContracts(deps, accounts, { maxFeePerGasWei: 9n, maxPriorityFeePerGasWei: 3n });
  expect(parseTransaction(sent[0] as Hex)).toMatchObject({ maxFeePerGas: 9n, maxPriorityFeePerGas: 3n });
  expect(asked).not.toContain('eth_getBlockByNumber');
  const free = chain({ latest: {} });
  await deployContracts(free.deps, accounts, { maxPriorityFeePerGasWei: 3n });
  expect(parseTransaction(free.sent[0] as Hex)).toMatchObject({ maxFeePerGas: 3n });
});

test('a deployment ends when a step reverts, or is in no block in time', async () => {
  const failure = async (at: ReturnType<typeof chain>, timeoutMs?: number) => {
    const error = await deployContracts(at.deps, accounts, { timeoutMs }).catch((reason: unknown) => reason);
    return String(error).replace(keccak256(at.sent[0] as Hex), 'the first');
  };
  expect(await failure(chain({ status: '0x0' }))).toBe('Error: deployment transaction the first reverted');
  const late = chain({ looks: 1_000_000 });
  expect(await failure(late, 100)).toBe(
    'Error: deployment transaction the first was not mined within 100 ms',
  );
  expect(late.sleptMs()).toBe(105);
  const justInTime = chain({ looks: 4 });
  await deployContracts(justInTime.deps, accounts, { timeoutMs: 100 });
  expect(await failure(chain({ looks: 1_000_000 }))).toContain('within 60000 ms');
});

/** Contracts as they were deployed, with their links; `change` replaces what the node says of one. */
function deployed(change: { code?: Record<string, Hex>; links?: Record<string, Hex> } = {}): Rpc {
  const code = Object.fromEntries(
    built.map(([artifact], place) => [[token, escrow, perks, pointsSale][place], artifact.deployedBytecode]),
  );
  return async (method, params) => {
    if (method === 'eth_getCode') return { ...code, ...change.code }[String(params[0])];
    const { to, data } = params[0] as { to: Hex; data: Hex };
    const link = data === toFunctionSelector('token()') ? 'token' : 'escrow';
    const result = change.links?.[`${to} ${link}`] ?? (link === 'token' ? token : escrow);
    return encodeFunctionResult({ abi: pointsSaleAbi, functionName: link, result });
  };
}

test('our contracts are known by their code and their links, whatever is in their immutable places', async () => {
  const problems = (change?: Parameters<typeof deployed>[0]) =>
    contractsAt({ rpc: deployed(change) }, addresses);
  expect(await problems()).toEqual([]);
  const [[start = 0, length = 0] = []] = businessEscrowArtifact.immutables;
  const own = businessEscrowArtifact.deployedBytecode;
  const place = 2 + start * 2;
  const filled = `${own.slice(0, place)}${'ab'.repeat(length)}${own.slice(place + length * 2)}` as Hex;
  expect(await problems({ code: { [escrow]: filled } })).toEqual([]);
  // Other code is not asked for its links.
  expect(await problems({ code: { [perks]: '0x' }, links: { [`${perks} token`]: other } })).toEqual([
    { contract: 'perks', problem: 'no_code' },
  ]);
  expect(
    await problems({ code: { [token]: '0x', [perks]: `${perkNftArtifact.deployedBytecode}00` } }),
  ).toEqual([
    { contract: 'token', problem: 'no_code' },
    { contract: 'perks', problem: 'other_code' },
  ]);
  const changed = `${own.slice(0, -2)}${own.endsWith('00') ? '01' : '00'}` as Hex;
  expect(await problems({ code: { [escrow]: changed } })).toEqual([
    { contract: 'escrow', problem: 'other_code' },
  ]);
  const links = [
    ['escrow', 'token'],
    ['perks', 'token'],
    ['perks', 'escrow'],
    ['pointsSale', 'token'],
    ['pointsSale', 'escrow'],
  ] as const;
  for (const [contract, link] of links)
    expect(await problems({ links: { [`${addresses[contract]} ${link}`]: other } })).toEqual([
      { contract, problem: `other_${link}` },
    ]);
});

test('what is wrong with a contract is told in words', () => {
  expect([contractProblemText('too_old'), contractProblemText('other_code')]).toEqual([
    'too old, it was deployed by an earlier version of rewards',
    'other code',
  ]);
});

test('what an account may do is asked of every contract, by the hash of each role', async () => {
  const has = new Set([`${token} ${roleId('')}`, `${perks} ${roleId('RELAYER_ROLE')}`]);
  const rpc: Rpc = async (method, params) => {
    if (method === 'eth_getBalance') return params[0] === other ? '0x7' : '0x0';
    const { to, data } = params[0] as { to: Hex; data: Hex };
    const { functionName, args } = decodeFunctionData({ abi: rewardTokenAbi, data });
    const give = (result: unknown) =>
      encodeFunctionResult({ abi: rewardTokenAbi, functionName, result } as never);
    if (functionName === 'balanceOf') return give(args[0] === other ? (to === token ? 5n : 6n) : 0n);
    return give(args?.[1] === other && has.has(`${to} ${args[0]}`));
  };
  expect(await accountPower({ rpc, contracts: addresses }, other)).toEqual({
    roles: new Set(['token.ADMIN', 'perks.RELAYER_ROLE']),
    tokens: 5n,
    inEscrow: 6n,
    gasMoneyWei: 7n,
  });
  expect((await accountPower({ rpc, contracts: addresses }, admin)).roles).toEqual(new Set());
  expect(await heldTokens({ rpc, contracts: addresses }, other)).toBe(11n);
});
