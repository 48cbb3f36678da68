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
  /** 0 while it waits for one. */
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

interface Paid {
  block: number;
  value: bigint;
}

function addTo<Key>(sums: Map<Key, Paid[]>, key: Key, { block, value }: Paid): void {
  const sum = sums.get(key) ?? [];
  if (sum.length === 0) sums.set(key, sum);
  const last = sum.at(-1);
  if (last?.block === block) last.value += value;
  else sum.push({ block, value });
}

const sumUpTo = (sum: readonly Paid[] | undefined, end: number) =>
  (sum ?? []).reduce((total, { block, value }) => (block <= end ? total + value : total), 0n);

/** `hashes`: of each batch's transaction. Resolves once it listens on a free port of this machine. */
export async function startStandInNode(history: History, hashes: readonly Hex[]) {
  const sent: Sent[] = [];
  /** How many of `sent` are in blocks up to one of those that came since the past. */
  const sentBy: number[] = [];
  const known = new Map<Hex, Sent>();
  /** What came since the past: by word of the payout bits, and by brand. */
  const paidSince = { words: new Map<bigint, Paid[]>(), brands: new Map<Hex, Paid[]>() };
  let pool: Sent[] = [];
  let head = history.headBlock;
  const mining = setInterval(() => {
    head += 1;
    for (const one of pool) {
      one.block = head;
      sent.push(one);
      for (const { brandId, sequence, amount } of one.entries) {
        addTo(paidSince.words, sequence >> 8n, { block: head, value: 1n << (sequence & 255n) });
        addTo(paidSince.brands, brandId, { block: head, value: amount });
      }
    }
    pool = [];
    sentBy.push(sent.length);
  }, 1_000);
  // A million rewards later an answer takes no longer.
  const countUpTo = (block: number) =>
    block >= head ? sent.length : (sentBy[block - history.headBlock - 1] ?? 0);
  const sentIn = (block: number) => sent.slice(countUpTo(block - 1), countUpTo(block));

  const numberOf = (tag: unknown): number => {
    if (typeof tag === 'object' && tag !== null && 'blockHash' in tag)
      return hexToNumber(`0x${String(tag.blockHash).slice(-16)}`);
    return typeof tag === 'string' && tag.startsWith('0x') ? hexToNumber(tag as Hex) : head;
  };
  const paid = (brand: number, block: number) =>
    history.paidUpTo(brand, block) * 5n + sumUpTo(paidSince.brands.get(brandIds[brand] as Hex), block);
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
    // No two of them are the same bit.
    return word + sumUpTo(paidSince.words.get(index), block);
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
      // The cap, what is left of it, and when all of it may be collected again.
      collectCap: () => [2n ** 128n, 2n ** 128n, 0n],
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
    for (const one of sentIn(block)) yield* payoutLogs(one, kind);
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
      return JSON.stringify({
        number: numberToHex(number),
        hash: blockHash(number),
        parentHash: blockHash(Math.max(0, number - 1)),
        timestamp: numberToHex(history.timestampSeconds(number)),
        baseFeePerGas: numberToHex(10n ** 9n),
        transactions: [...past, ...sentIn(number).map(({ hash }) => hash)],
      });
    },
    eth_getBlockReceipts([tag]) {
      const number = numberOf(tag);
      return `[${sentIn(number)
        .map((one) =>
          receiptOf(one.hash, number, [...payoutLogs(one, 'token'), ...payoutLogs(one, 'others')]),
        )
        .join(',')}]`;
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
      const found = known.get(hash as Hex);
      const one = found && found.block > 0 ? found : undefined;
      const place = hashes.indexOf(hash as Hex);
      if (!one && place === -1) return 'null';
      return receiptOf(hash as Hex, one?.block ?? history.blockOf(place), []);
    },
    eth_getTransactionByHash: () => 'null',
    eth_getTransactionCount([account, tag]) {
      const block = numberOf(tag);
      if (String(account).toLowerCase() !== accounts.payout) return '"0x0"';
      const past = Math.max(0, Math.min(history.batches, block - history.blockOf(0) + 1));
      return JSON.stringify(numberToHex(past + countUpTo(block) + (tag === 'pending' ? pool.length : 0)));
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
      if (!known.has(hash)) {
        const one = { hash, nonce, entries: decodePayoutBatch(data), block: 0 };
        known.set(hash, one);
        pool.push(one);
        pool.sort((first, second) => first.nonce - second.nonce);
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
