/**
 * Whatever a user asks the relay to send, nothing changes on the four contracts but that user's own property. The
 * chain's logs are the judge. REWARDS_RELAY_FUZZ_RUNS sets how many calls are made.
 */
import {
  type Abi,
  type AbiFunction,
  type AbiParameter,
  decodeEventLog,
  encodeFunctionData,
  type Hex,
  maxUint256,
  parseEther,
  toFunctionSignature,
  toHex,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  businessEscrowAbi,
  perkNFTAbi,
  pointsSaleAbi,
  rewardTokenAbi,
} from '../../../src/chain/contracts/abis.ts';
import { roleId } from '../../../src/chain/contracts/deployment-steps.ts';
import { relayPolicy } from '../../../src/rules/relay-policy.ts';
import { PERK, PERK_PRICE, type RelayKit, startRelayKit, type User } from '../../kits/chain/wallet.ts';
import { seededChance } from '../../kits/run/seeded-chance.ts';

const RUNS = Number(process.env.REWARDS_RELAY_FUZZ_RUNS ?? 1_500);
const SEED = Number(process.env.REWARDS_RELAY_FUZZ_SEED ?? 1);
const TOGETHER = 20;
const abis = {
  token: rewardTokenAbi,
  perks: perkNFTAbi,
  escrow: businessEscrowAbi,
  pointsSale: pointsSaleAbi,
} as const;
type Name = keyof typeof abis;
type SeededChance = ReturnType<typeof seededChance>;
const functions = Object.entries(abis).flatMap(([contract, abi]) =>
  (abi as Abi).flatMap((item) => (item.type === 'function' ? [{ contract: contract as Name, item }] : [])),
);

const allowed = functions.filter(
  ({ contract, item }) => toFunctionSignature(item as AbiFunction) in relayPolicy[contract],
);

let kit: RelayKit;
let alice: User;
let bob: User;
/** Addresses that calls are made with. */
let parties: Hex[];
let gasWallets: Hex[];
let fromBlock: bigint;
beforeAll(async () => {
  kit = await startRelayKit();
  ({ alice, bob } = kit.users);
  for (const { email } of [alice, bob])
    for (const eventType of ['account_creation', 'first_purchase', 'referral'])
      await kit.event({ userEmail: email, eventType });
  // Bob trusts the perks contract with everything: a caller who could buy in his name would spend his tokens.
  const answer = await kit.relay(bob, {
    ...kit.purchase(bob.address, PERK, PERK_PRICE),
    metadata: { permit: await kit.permit(bob, { value: maxUint256 }) },
  });
  expect(answer.status).toBe(200);
  const elsewhere = await kit.relay(bob, kit.purchase(bob.address), { origin: 'http://localhost' });
  gasWallets = [answer.body.from, elsewhere.body.from].map((one: string) => one.toLowerCase() as Hex);
  const admin = kit.admin.account.address.toLowerCase() as Hex;
  const stranger = privateKeyToAccount(generatePrivateKey()).address.toLowerCase() as Hex;
  parties = [alice.address, bob.address, ...gasWallets, admin, stranger, kit.brand.brandId as Hex];
  parties.push(...Object.values(kit.contracts).map((one) => one.toLowerCase() as Hex));
  fromBlock = (await kit.chain.getBlockNumber()) + 1n;
}, 60_000);
afterAll(() => kit?.stop());

function argument(chance: SeededChance, parameter: AbiParameter): unknown {
  const { type } = parameter;
  if ('components' in parameter && type === 'tuple')
    return Object.fromEntries(parameter.components.map((one) => [one.name, argument(chance, one)]));
  const amounts = [0n, 1n, 2n, 5n, PERK_PRICE, 1_000n, maxUint256, BigInt(2 ** 48)];
  if (type.endsWith('[]')) {
    const inner = { type: type.slice(0, -2) } as AbiParameter;
    return Array.from({ length: chance.below(3) }, () => argument(chance, inner));
  }
  if (type === 'address') return chance.pick([alice.address, ...parties]);
  if (type === 'bool') return chance.unit() < 0.5;
  if (type === 'uint8') return chance.pick([0, 27, 28, 255]);
  if (type === 'int256') return chance.pick([0n, 1n, -1n, -2n, PERK_PRICE, -(2n ** 255n)]);
  if (/^uint/.test(type)) return chance.pick(amounts) & (2n ** BigInt(type.slice(4) || 256) - 1n);
  if (type === 'bytes4') return chance.pick(['0x01ffc9a7', '0xffffffff']);
  if (type === 'bytes32')
    return chance.pick([
      roleId('MINTER_ROLE'),
      roleId(''),
      roleId('RELAYER_ROLE'),
      toHex(chance.below(1_000), { size: 32 }),
    ]);
  if (type === 'bytes') return chance.pick(['0x', toHex('anything'), `0x${'00'.repeat(28)}`]);
  if (type === 'string') return chance.pick(['', 'RWT']);
  throw new Error(`no argument of type ${type}`);
}

function mutated(chance: SeededChance, data: Hex): Hex {
  if (chance.unit() < 0.8) return data;
  const at = 2 + 2 * chance.below(Math.max(1, data.length / 2 - 1));
  return chance.pick<Hex>([
    `0x${data.slice(2)}${'00'.repeat(chance.below(40))}`,
    data.slice(0, at) as Hex,
    `${data.slice(0, at)}${toHex(chance.below(256), { size: 1 }).slice(2)}${data.slice(at + 2)}` as Hex,
  ]);
}

function randomCall(chance: SeededChance): Record<string, unknown> {
  // A third are the few that are allowed: what is bound to the user is where mistakes would be.
  const { contract, item } = chance.pick(chance.unit() < 0.33 ? allowed : functions);
  const { inputs, name } = item as AbiFunction;
  const args = inputs.map((input) => argument(chance, input));
  const data = encodeFunctionData({ abi: [item as AbiFunction], functionName: name, args });
  const to = chance.unit() < 0.95 ? kit.contracts[contract] : chance.pick(parties);
  return {
    to,
    data: mutated(chance, data),
    userAddress: chance.unit() < 0.9 ? alice.address : chance.pick(parties),
    ...(chance.unit() < 0.1 && { value: chance.pick(['0', '1', String(parseEther('1'))]) }),
    ...(chance.unit() < 0.1 && { gasLimit: chance.pick([21_000, 100_000, 1_000_000]) }),
  };
}

const own = (address: unknown) => String(address).toLowerCase() === alice.address;
/** Says what is wrong with one log; undefined for what the policy lets a user do. */
function complaint(contract: Name, eventName: string, args: Record<string, unknown>): string | undefined {
  const { perks, escrow } = kit.contracts;
  const among = (address: unknown, ...known: string[]) =>
    known.some((one) => one.toLowerCase() === String(address).toLowerCase());
  switch (`${contract}.${eventName}`) {
    case 'token.Transfer':
      // The price goes from the user to PerkNFT and on into the escrow; other tokens where the user signed.
      return own(args.from) || (among(args.from, perks) && among(args.to, escrow)) ? undefined : 'moved';
    case 'token.Approval':
      return own(args.owner) || among(args.owner, perks) ? undefined : 'allowed';
    case 'token.AuthorizationUsed':
    case 'token.AuthorizationCanceled':
      return own(args.authorizer) ? undefined : 'authorized';
    case 'perks.TransferSingle':
      return own(args.to) && BigInt(String(args.from)) === 0n ? undefined : 'perk moved';
    case 'perks.PerkPurchased':
      return own(args.buyer) ? undefined : 'bought';
    case 'escrow.Deposited':
      return among(args.from, perks) ? undefined : 'deposited';
    default:
      return 'nothing of the kind may happen';
  }
}

async function judge(): Promise<number> {
  const logs = await kit.chain.getLogs({ address: Object.values(kit.contracts), fromBlock });
  for (const { address, topics, data } of logs) {
    const contract = Object.entries(kit.contracts).find(
      ([, one]) => one.toLowerCase() === address.toLowerCase(),
    )?.[0] as Name;
    const { eventName, args } = decodeEventLog({ abi: abis[contract] as Abi, topics, data });
    const wrong = complaint(contract, eventName ?? '', args as unknown as Record<string, unknown>);
    expect(
      wrong && `${wrong}: ${contract}.${eventName} ${JSON.stringify(args, (_, v) => String(v))}`,
    ).toBeUndefined();
  }
  for (const wallet of gasWallets) expect(await kit.tokensOf(wallet)).toBe(0n);
  return logs.length;
}

test(
  `${RUNS} calls over all functions of the four contracts (seed ${SEED})`,
  async () => {
    const chance = seededChance(SEED);
    const bobs = await kit.tokensOf(bob.address);
    const statuses = new Map<string, number>();
    for (let sent = 0; sent < RUNS; sent += TOGETHER) {
      const answers = await Promise.all(
        Array.from({ length: TOGETHER }, async (_, n) => {
          // Now and then one that is allowed, so that the chain moves on.
          const call = n === 0 ? kit.purchase(alice.address) : randomCall(chance);
          return { call, answer: await kit.relay(alice, call) };
        }),
      );
      for (const { call, answer } of answers) {
        const { status, body } = answer;
        expect([200, 400, 403, 429, 500], JSON.stringify({ call, body })).toContain(status);
        // What passes every check and then fails on chain is the only 500.
        if (status === 500) expect(body.code).toBe('TRANSACTION_FAILED');
        const name = body.details?.reason ?? body.code ?? status;
        statuses.set(name, (statuses.get(name) ?? 0) + 1);
      }
      if (answers.some(({ answer }) => answer.status === 429)) await kit.advance('1h');
      if (sent % 1_000 === 0) await judge();
    }
    expect(await judge()).toBeGreaterThan(RUNS / TOGETHER);
    expect(await kit.tokensOf(bob.address)).toBe(bobs);
    // The calls really got as far as each of these checks.
    for (const name of [
      '200',
      'unknown_function',
      'function_not_allowed',
      'not_the_user',
      'would_fail',
      'value_not_allowed',
      'not_your_wallet',
    ])
      expect([...statuses.keys()].map(String)).toContain(name);
  },
  Math.max(120_000, RUNS * 60),
);
