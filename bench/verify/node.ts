/** A stand-in for a chain node: answers JSON-RPC from the past of `history.ts`, and carries out payouts that are sent to it, a block a second. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Abi,
  decodeFunctionData,
  encodeFunctionResult,
  type Hex,
  hexToNumber,
  keccak256,
  numberToHex,
  parseTransaction,
} from 'viem';
import { businessEscrowAbi, pointsSaleAbi, rewardTokenAbi } from '../../src/chain/contracts/abis.ts';
import {
  businessEscrowArtifact,
  perkNftArtifact,
  pointsSaleArtifact,
  rewardTokenArtifact,
} from '../../src/chain/contracts/artifacts.ts';
import { roleId } from '../../src/chain/contracts/deployment-steps.ts';
import { decodePayoutBatch, type PayoutEntry } from '../../src/chain/contracts/payout-batch.ts';
import {
  accounts,
  blockHash,
  brandIds,
  CHAIN_ID,
  contracts,
  DEPLOYMENT_BLOCK,
  DEPOSIT,
  type History,
} from './history.ts';
import { depositLogs, payoutLogs } from './logs.ts';

/** A transaction that the service sent. */
interface Sent {
  hash: Hex;
  nonce: number;
  entries: PayoutEntry[];
  block: number;
}

const codes = {
  [contracts.token]: rewardTokenArtifact,
  [contracts.escrow]: businessEscrowArtifact,
  [contracts.perks]: perkNftArtifact,
  [contracts.pointsSale]: pointsSaleArtifact,
};
const granted = new Set([
  `${contracts.token} ${roleId('MINTER_ROLE')} ${contracts.pointsSale}`,
  `${contracts.escrow} ${roleId('DISTRIBUTOR_ROLE')} ${accounts.payout}`,
  `${contracts.pointsSale} ${roleId('OPERATOR_ROLE')} ${accounts.mint}`,
  `${contracts.perks} ${roleId('RELAYER_ROLE')} ${accounts.relay}`,
]);
const everyAbi = [...businessEscrowAbi, ...pointsSaleAbi, ...rewardTokenAbi] as Abi;

/** `hashes`: of each batch's transaction. Resolves once it listens on a free port of this machine. */
export async function startStandInNode(history: History, hashes: readonly Hex[]) {
  const sent: Sent[] = [];
  const pool: Sent[] = [];
  let head = history.headBlock;
  const mining = setInterval(() => {
    head += 1;
    for (const one of pool.splice(0)) sent.push({ ...one, block: head });
  }, 1_000);

  const numberOf = (tag: unknown): number => {
    if (typeof tag === 'object' && tag !== null && 'blockHash' in tag)
      return hexToNumber(`0x${String(tag.blockHash).slice(-16)}`);
    return typeof tag === 'string' && tag.startsWith('0x') ? hexToNumber(tag as Hex) : head;
  };
  const sentUpTo = (block: number) => sent.filter((one) => one.block <= block);
  const paid = (brand: number, block: number) =>
    history.paidUpTo(brand, block) * 5n +
    sentUpTo(block)
      .flatMap(({ entries }) => entries)
      .filter(({ brandId }) => brandId === brandIds[brand])
      .reduce((sum, { amount }) => sum + amount, 0n);
  const inEscrow = (account: string, block: number) => {
    const place = brandIds.indexOf(account as Hex);
    return place === -1 || block < history.depositBlock ? 0n : DEPOSIT - paid(place, block);
  };
  const paidWord = (index: bigint, block: number) => {
    let word = 0n;
    for (let bit = 0; bit < 256; bit++) {
      const sequence = Number(index) * 256 + bit;
      const isPast = sequence < history.rewards && history.blockOf(history.batchOf(sequence)) <= block;
      if (isPast) word |= 1n << BigInt(bit);
    }
    for (const { entries } of sentUpTo(block)) {
      for (const { sequence } of entries) if (sequence >> 8n === index) word |= 1n << (sequence & 255n);
    }
    return word;
  };

  const call = ({ to, data }: { to: Hex; data: Hex }, block: number): Hex => {
    const { functionName, args = [] } = decodeFunctionData({ abi: everyAbi, data });
    const [first, second] = args as [unknown, unknown];
    const lower = (value: unknown) => String(value).toLowerCase();
    const at = to.toLowerCase();
    const results: Record<string, () => unknown> = {
      token: () => contracts.token,
      escrow: () => contracts.escrow,
      hasRole: () => granted.has(`${at} ${first} ${lower(second)}`),
      paidWord: () => paidWord(first as bigint, block),
      minterCap: () => 2n ** 128n,
      totalSupply: () => (block < history.depositBlock ? 0n : DEPOSIT * BigInt(brandIds.length)),
      balanceOf() {
        if (at === contracts.escrow) return inEscrow(lower(first), block);
        if (lower(first) !== contracts.escrow) return 0n;
        return brandIds.reduce((sum, brandId) => sum + inEscrow(brandId, block), 0n);
      },
    };
    const result = results[functionName];
    if (!result) throw new Error(`the stand-in knows no ${functionName}`);
    return encodeFunctionResult({ abi: everyAbi, functionName, result: result() });
  };

  const logsOf = function* (block: number, kind: 'token' | 'others'): Generator<string> {
    if (block === history.depositBlock) yield* depositLogs(block, kind);
    const place = history.batchIn(block);
    const past = place === undefined ? undefined : hashes[place];
    if (past && place !== undefined)
      yield* payoutLogs({ hash: past, entries: history.entries(place), block }, kind);
    for (const one of block > history.headBlock ? sent : [])
      if (one.block === block) yield* payoutLogs(one, kind);
  };

  const receiptOf = (hash: Hex, block: number, logs: string[]) =>
    `{"transactionHash":"${hash}","blockHash":"${blockHash(block)}","blockNumber":"${numberToHex(block)}","status":"0x1","gasUsed":"0x7a1200","effectiveGasPrice":"0x77359400","logs":[${logs.join(',')}]}`;

  /** The result as JSON. */
  const methods: Record<string, (params: unknown[]) => string> = {
    eth_chainId: () => JSON.stringify(numberToHex(CHAIN_ID)),
    eth_getBlockByNumber([tag]) {
      const number = numberOf(tag);
      if (number > head) return 'null';
      const place = history.batchIn(number);
      const past = place === undefined ? [] : [hashes[place]];
      const live = number > history.headBlock ? sent.filter(({ block }) => block === number) : [];
      return JSON.stringify({
        number: numberToHex(number),
        hash: blockHash(number),
        parentHash: blockHash(Math.max(0, number - 1)),
        timestamp: numberToHex(history.timestampSeconds(number)),
        baseFeePerGas: numberToHex(10n ** 9n),
        transactions: [...past, ...live.map(({ hash }) => hash)],
      });
    },
    eth_getBlockReceipts([tag]) {
      const number = numberOf(tag);
      const inBlock = sent.filter(({ block }) => block === number);
      return `[${inBlock.map((one) => receiptOf(one.hash, number, [...payoutLogs(one, 'token'), ...payoutLogs(one, 'others')])).join(',')}]`;
    },
    eth_getLogs([filter]) {
      const { fromBlock, toBlock, address } = filter as { fromBlock: Hex; toBlock: Hex; address: unknown };
      const kind = address === contracts.token ? 'token' : 'others';
      const logs: string[] = [];
      for (let block = numberOf(fromBlock); block <= Math.min(head, numberOf(toBlock)); block++) {
        for (const log of logsOf(block, kind)) logs.push(log);
      }
      return `[${logs.join(',')}]`;
    },
    eth_getTransactionReceipt([hash]) {
      const one = sent.find((candidate) => candidate.hash === hash);
      const place = hashes.indexOf(hash as Hex);
      if (!one && place === -1) return 'null';
      return receiptOf(hash as Hex, one?.block ?? history.blockOf(place), []);
    },
    eth_getTransactionByHash: () => 'null',
    eth_getTransactionCount([account, tag]) {
      const block = numberOf(tag);
      if (String(account).toLowerCase() !== accounts.payout) return '"0x0"';
      const past = Math.max(0, Math.min(history.batches, block - history.blockOf(0) + 1));
      return JSON.stringify(
        numberToHex(past + sentUpTo(block).length + (tag === 'pending' ? pool.length : 0)),
      );
    },
    eth_getBalance: () => JSON.stringify(numberToHex(10n ** 24n)),
    eth_getCode: ([at, tag]) =>
      JSON.stringify(
        numberOf(tag) < DEPLOYMENT_BLOCK
          ? '0x'
          : (codes[String(at).toLowerCase() as Hex]?.deployedBytecode ?? '0x'),
      ),
    eth_call: ([request, tag]) => JSON.stringify(call(request as { to: Hex; data: Hex }, numberOf(tag))),
    eth_sendRawTransaction([raw]) {
      const { nonce = 0, data = '0x' } = parseTransaction(raw as Hex);
      const hash = keccak256(raw as Hex);
      if (![...sent, ...pool].some((one) => one.hash === hash)) {
        pool.push({ hash, nonce, entries: decodePayoutBatch(data), block: 0 });
        pool.sort((one, other) => one.nonce - other.nonce);
      }
      return JSON.stringify(hash);
    },
  };

  const server = createServer(async (request, response) => {
    const { id, method, params } = JSON.parse(await textOf(request)) as {
      id: number;
      method: string;
      params: unknown[];
    };
    response.setHeader('content-type', 'application/json');
    try {
      const answer = methods[method];
      if (!answer) throw new Error(`the stand-in knows no ${method}`);
      response.end(`{"jsonrpc":"2.0","id":${id},"result":${answer(params)}}`);
    } catch (error) {
      response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: String(error) } }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      clearInterval(mining);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
