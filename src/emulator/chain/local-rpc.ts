/** JSON-RPC to our own Anvil: one call, or many independent calls in one request. */
import { Agent, request as httpRequest } from 'node:http';
import { type Hex, hexToNumber, numberToHex } from 'viem';
import { type Rpc, RpcAnswerError, RpcUnreachableError } from '../../chain/rpc/rpc.ts';

interface RpcCall {
  method: string;
  params: readonly unknown[];
}

export interface LocalRpc {
  /** Where the node listens. */
  url: string;
  call: Rpc;
  /** Answers in the order of the calls, which Anvil works on at the same time; rejects on the first error. */
  all(calls: RpcCall[]): Promise<unknown[]>;
}

/** A block as the journal needs it. */
export interface LocalBlock {
  number: number;
  hash: Hex;
  parentHash: Hex;
  stateRoot: Hex;
  timestampSeconds: number;
  baseFeeWei: bigint;
  transactionHashes: Hex[];
}

/** Loading or dumping the state of a large chain takes seconds. */
const TIMEOUT_MS = 120_000;

export function createLocalRpc(url: string): LocalRpc {
  // Three times as fast as fetch for requests this small, and a replay needs many of them.
  const agent = new Agent({ keepAlive: true });
  const send = async (body: (RpcCall & { id: number })[]): Promise<unknown[]> => {
    const name = body.length === 1 ? (body[0]?.method ?? '') : 'batch';
    let answers: unknown;
    try {
      answers = JSON.parse(
        await post({ url, agent, body: JSON.stringify(body.map((one) => ({ jsonrpc: '2.0', ...one }))) }),
      );
    } catch {
      throw new RpcUnreachableError(name, 'no answer');
    }
    if (!Array.isArray(answers)) throw new RpcUnreachableError(name, 'an unreadable answer');
    const byId = new Map((answers as Answer[]).map((answer) => [answer.id, answer]));
    return body.map(({ id, method }) => {
      const answer = byId.get(id);
      if (answer?.error) throw new RpcAnswerError(method, answer.error);
      if (!answer || !('result' in answer)) throw new RpcUnreachableError(method, 'an unreadable answer');
      return answer.result;
    });
  };
  return {
    url,
    call: async (method, params) => (await send([{ id: 0, method, params }]))[0],
    all: async (calls) => (calls.length === 0 ? [] : send(calls.map((call, id) => ({ id, ...call })))),
  };
}

interface Answer {
  id?: number;
  result?: unknown;
  error?: { code: number; message: string };
}

function post(request: { url: string; agent: Agent; body: string }): Promise<string> {
  const { url, agent, body } = request;
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method: 'POST', agent, headers, timeout: TIMEOUT_MS }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks).toString()));
      response.on('error', reject);
    });
    sent.on('timeout', () => sent.destroy(new Error('timed out')));
    sent.on('error', reject);
    sent.end(body);
  });
}

export const blockCall = (which: 'latest' | number): RpcCall => ({
  method: 'eth_getBlockByNumber',
  params: [which === 'latest' ? which : numberToHex(which), false],
});

/** Undefined when the chain does not have the block. */
export function toLocalBlock(answer: unknown): LocalBlock | undefined {
  if (!answer) return undefined;
  const block = answer as Record<'number' | 'hash' | 'parentHash' | 'stateRoot' | 'timestamp', Hex> & {
    baseFeePerGas?: Hex;
    transactions: Hex[];
  };
  return {
    number: hexToNumber(block.number),
    hash: block.hash,
    parentHash: block.parentHash,
    stateRoot: block.stateRoot,
    timestampSeconds: hexToNumber(block.timestamp),
    baseFeeWei: BigInt(block.baseFeePerGas ?? 0),
    transactionHashes: block.transactions,
  };
}

export async function headBlock(rpc: LocalRpc): Promise<LocalBlock> {
  const { method, params } = blockCall('latest');
  const head = toLocalBlock(await rpc.call(method, params));
  if (!head) throw new RpcUnreachableError(method, 'an unreadable answer');
  return head;
}
