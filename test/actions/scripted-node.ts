/** A node that answers what a relayed call's checks ask it for, as a test tells it; nothing is sent and no block is made. */
import {
  decodeFunctionData,
  domainSeparator,
  encodeFunctionResult,
  type Hex,
  numberToHex,
  parseAbi,
} from 'viem';
import { perkNFTAbi, rewardTokenAbi } from '../../src/chain/contracts/abis.ts';
import type { Rpc } from '../../src/chain/rpc/rpc.ts';
import { freshAddress } from '../kits/databases/databases.ts';

const oracleAbi = parseAbi(['function getL1Fee(bytes data) view returns (uint256)']);
const abi = [...rewardTokenAbi, ...perkNFTAbi, ...oracleAbi];

export const tokenDomain = {
  name: 'Reward Token',
  version: '1',
  chainId: 7,
  verifyingContract: freshAddress(),
};

/** What a try of one call gives: the gas that it used, or the bytes that it reverted with. */
export type Tried = bigint | { reverted: Hex };

export interface TriedOnNode {
  from: Hex;
  to: Hex;
  data: Hex;
  value: Hex;
  gas: Hex;
}

export function scriptedNode() {
  const world = {
    baseFeeWei: 10n ** 10n,
    /** The next nonce of any owner of a permit, and what any spender may take. */
    nonce: 5n,
    allowance: 0n,
    perkBrand: freshAddress() as Hex,
    /** The terms of every perk, and the RWT of everybody. */
    perk: { price: 1n, stock: 1n, active: true },
    balance: 0n,
    /** In order, for the calls of one try. */
    tries: [100_000n] as Tried[],
    /** In wei for each byte of data; undefined on a chain without the contract that knows. */
    l1WeiPerByte: undefined as bigint | undefined,
    /** In place of every answer. */
    fault: undefined as Error | undefined,
    /** Calls that were tried out, each list one request. */
    tried: [] as TriedOnNode[][],
  };

  function read(data: Hex): Hex {
    const { functionName, args } = decodeFunctionData({ abi, data });
    const give = (result: unknown) => encodeFunctionResult({ abi, functionName, result } as never);
    if (functionName === 'DOMAIN_SEPARATOR') return give(domainSeparator({ domain: tokenDomain }));
    if (functionName === 'nonces') return give(world.nonce);
    if (functionName === 'allowance') return give(world.allowance);
    if (functionName === 'balanceOf') return give(world.balance);
    if (functionName === 'perkOf')
      return give({ ...world.perk, brand: args[0] === 1n ? world.perkBrand : freshAddress() });
    if (functionName === 'getL1Fee')
      return give(BigInt(String(args[0]).length / 2 - 1 - 150) * (world.l1WeiPerByte ?? 0n));
    throw new Error(`no answer for ${functionName}`);
  }

  const rpc: Rpc = async (method, params) => {
    if (world.fault) throw world.fault;
    if (method === 'eth_getCode') return world.l1WeiPerByte === undefined ? '0x' : '0x60';
    if (method === 'eth_call') return read((params[0] as { data: Hex }).data);
    if (method !== 'eth_simulateV1') throw new Error(`no answer to ${method}`);
    const [{ blockStateCalls }] = params as unknown as [{ blockStateCalls: { calls: TriedOnNode[] }[] }];
    const calls = blockStateCalls[0]?.calls ?? [];
    world.tried.push(calls);
    const answers = world.tries.slice(0, calls.length).map((one) => {
      const used = typeof one === 'bigint';
      const returnData = used ? '0x' : one.reverted;
      return { status: used ? '0x1' : '0x0', gasUsed: numberToHex(used ? one : 21_000n), returnData };
    });
    return [{ calls: answers }];
  };
  const chain = {
    async block(which: unknown) {
      if (world.fault) throw world.fault;
      if (which !== 'latest') throw new Error(`no answer for block ${which}`);
      const hash = `0x${'1'.repeat(64)}` as const;
      return { number: 1, hash, parentHash: hash, timestampSeconds: 1, baseFeeWei: world.baseFeeWei };
    },
  };
  return { world, rpc, chain };
}
