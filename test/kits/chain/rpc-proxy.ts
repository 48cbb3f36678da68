/** Stands between a service and its node, and does to their talk what networks and providers do. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { formatEther, keccak256, parseTransaction } from 'viem';
import { seededChance } from '../run/seeded-chance.ts';

export const rpcFaults = [
  /** The node never hears of it; the connection is cut. */
  'lost-request',
  /** The node did it; its answer is not delivered. */
  'lost-answer',
  /** The node gets it twice; the second answer is delivered. */
  'duplicate',
  /** Forwarded late. */
  'delay',
  /** A node that is some blocks behind: old head, old nonce, no receipts for the newest blocks. */
  'stale',
  'too-many-requests',
  'unavailable',
  /** A page of HTML with status 200, and the node never hears of it. */
  'garbage',
  /** `null`, whatever was asked, and the node never hears of it. */
  'null',
  /** The node did it; half of its answer is delivered. */
  'truncated',
  /** Signed bytes that offer more than the node's cap are refused, in geth's words. */
  'fee-cap',
  /** A node that keeps the state of its newest block only. */
  'no-old-state',
  /** A node whose pool is empty: what other nodes hold it does not show. */
  'empty-pool',
  /** A node that counts what waits in its pool, and shows nobody what it is. */
  'hidden-pool',
  /** A node that answers nothing about its pool, not even how much waits in it. */
  'silent-pool',
] as const;
export type RpcFault = (typeof rpcFaults)[number];

export interface FaultRule {
  fault: RpcFault;
  /** Default: every method. */
  method?: RegExp;
  /** Of the requests that the rule is about; default 1. */
  probability?: number;
  /** Default: without end. */
  times?: number;
  /** delay: how long. Default 50. */
  delayMs?: number;
  /** stale: how many blocks behind. Default 2. */
  behindBlocks?: number;
  /** fee-cap: the most that one transaction may offer for its gas. Default 1 of the native coin. */
  capWei?: bigint;
}

/** One `eth_sendRawTransaction` as it arrived. */
export interface SeenTransaction {
  atMs: number;
  hash: `0x${string}`;
  raw: `0x${string}`;
}

interface Call {
  id: unknown;
  method: string;
  params: unknown[];
}

export type RpcProxy = Awaited<ReturnType<typeof startRpcProxy>>;

/** `onSend` is awaited before signed bytes are passed on, so that it sees what was true before the node had them. */
export async function startRpcProxy(options: {
  target: string;
  seed?: number;
  onSend?: (seen: SeenTransaction) => Promise<void> | void;
}) {
  const chance = seededChance(options.seed ?? 1);
  let rules: (FaultRule & { left: number })[] = [];
  const sent: SeenTransaction[] = [];
  const counts = new Map<string, number>();
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);

  const pick = (call: Call) =>
    rules.find((rule) => {
      if (rule.fault === 'fee-cap' && !isOver(call, rule.capWei)) return false;
      if (rule.left <= 0 || (rule.method && !rule.method.test(call.method))) return false;
      if (chance.unit() >= (rule.probability ?? 1)) return false;
      rule.left -= 1;
      return true;
    });
  const forward = async (text: string) => {
    const response = await fetch(options.target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: text,
    });
    return { status: response.status, text: await response.text() };
  };
  const ask = async (method: string, params: unknown[]) =>
    JSON.parse((await forward(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))).text).result;

  /** Notes a request, and picks what is to happen to it. */
  const meet = async (call: Call): Promise<FaultRule | undefined> => {
    count(call.method);
    // Whom it is about, where that is an account.
    if (/^0x[0-9a-f]{40}$/i.test(String(call.params[0]))) count(`${call.method} ${call.params[0]}`);
    if (call.method === 'eth_sendRawTransaction') {
      const raw = call.params[0] as `0x${string}`;
      const seen = { atMs: Date.now(), raw, hash: keccak256(raw) };
      sent.push(seen);
      await options.onSend?.(seen);
    }
    const rule = pick(call);
    if (rule) count(`fault ${rule.fault}`);
    return rule;
  };

  /** What a request that came with or without others becomes: an answer of ours, or what the node is asked in its place. */
  const bend = async (
    call: Call,
    rule: FaultRule | undefined,
  ): Promise<{ answer: object } | { asked: Call }> => {
    const failed = (message: string) => ({ answer: { error: { code: -32000, message } } });
    switch (rule?.fault) {
      case 'fee-cap':
        return failed(
          `tx fee (1.06 ether) exceeds the configured cap (${formatEther(rule.capWei ?? ONE)} ether)`,
        );
      case 'no-old-state':
        return call.params.includes('latest') ? { asked: call } : failed('missing trie node');
      case 'empty-pool':
        return {
          asked: { ...call, params: call.params.map((one) => (one === 'pending' ? 'latest' : one)) },
        };
      case 'hidden-pool':
        if (call.method.startsWith('txpool_')) return failed('the method is not available');
        return call.method === 'eth_getBlockByNumber' && call.params[0] === 'pending'
          ? { answer: { result: null } }
          : { asked: call };
      case 'silent-pool':
        return call.method.startsWith('txpool_') || call.params.includes('pending')
          ? failed('the pool is not available')
          : { asked: call };
      case 'null':
        return { answer: { result: null } };
      case 'stale': {
        const head = Number(await ask('eth_blockNumber', []));
        const old = staleCall(call, Math.max(0, head - (rule.behindBlocks ?? 2)));
        return old === 'null' ? { answer: { result: null } } : { asked: old };
      }
    }
    return { asked: call };
  };

  /** The node's answers and ours, each under the id of its request. */
  const answersTo = async (calls: Call[], rules: (FaultRule | undefined)[]): Promise<object[]> => {
    const bent = await Promise.all(calls.map((call, place) => bend(call, rules[place])));
    const asked = bent.flatMap((one) => ('asked' in one ? [one.asked] : []));
    const { text } = asked.length > 0 ? await forward(JSON.stringify(asked)) : { text: '[]' };
    const found = JSON.parse(text) as { id: unknown }[];
    return bent.map((one, place) => {
      const id = calls[place]?.id;
      if ('answer' in one) return { jsonrpc: '2.0', id, ...one.answer };
      return { ...found.find((answer) => answer.id === id), id };
    });
  };

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[];
    const calls = Array.isArray(body) ? body : [body];
    const rules: (FaultRule | undefined)[] = [];
    for (const call of calls) rules.push(await meet(call));
    const answered = async () => {
      const answers = await answersTo(calls, rules);
      return JSON.stringify(Array.isArray(body) ? answers : answers[0]);
    };
    const reply = (status: number, text: string, type = 'application/json') =>
      response.writeHead(status, { 'content-type': type, connection: 'close' }).end(text);
    // Requests that come together share what happens to their connection.
    const shared = rules.find((rule) => rule && ofConnection.has(rule.fault));
    switch (shared?.fault) {
      case 'lost-request':
        return void request.socket.destroy();
      case 'lost-answer':
        await answered();
        return void request.socket.destroy();
      case 'duplicate':
        await answered();
        break;
      case 'delay':
        await wait(shared.delayMs ?? 50);
        break;
      case 'too-many-requests':
        return void reply(
          429,
          '{"jsonrpc":"2.0","error":{"code":-32005,"message":"rate limit exceeded"},"id":1}',
        );
      case 'unavailable':
        return void reply(503, 'no backend is available', 'text/plain');
      case 'garbage':
        return void reply(200, '<!doctype html><title>Sign in</title>', 'text/html');
      case 'truncated': {
        const text = await answered();
        response.writeHead(200, { 'content-length': text.length }).write(text.slice(0, text.length / 2));
        return void setTimeout(() => request.socket.destroy(), 5);
      }
    }
    reply(200, await answered());
  };

  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');

  return {
    url: `http://127.0.0.1:${address.port}`,
    /** Every transaction that was handed in, in order, with repetitions. */
    sent,
    /** Adds a rule; the first one that applies to a request is followed. */
    add(rule: FaultRule) {
      rules.push({ ...rule, left: rule.times ?? Number.POSITIVE_INFINITY });
    },
    /** From here on everything is passed on as it is. */
    heal() {
      rules = [];
    },
    /** Requests by method, and faults by `fault <name>`. */
    counts,
    async stop() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}

/** Faults of a connection, whatever was asked. */
const ofConnection = new Set<RpcFault>([
  ...(['lost-request', 'lost-answer', 'duplicate', 'delay'] as const),
  ...(['too-many-requests', 'unavailable', 'garbage', 'truncated'] as const),
]);

const ONE = 10n ** 18n;

function isOver({ method, params }: Call, capWei = ONE): boolean {
  if (method !== 'eth_sendRawTransaction') return false;
  const { gas = 0n, maxFeePerGas = 0n } = parseTransaction(params[0] as `0x${string}`);
  return gas * maxFeePerGas > capWei;
}

/** The call as a node would answer it whose newest block is `head`; 'null' for what it cannot know yet. */
function staleCall(call: Call, head: number): Call | 'null' {
  const at = `0x${head.toString(16)}`;
  const [first, second] = call.params;
  const isAhead = typeof first === 'string' && /^0x[0-9a-f]{1,16}$/.test(first) && Number(first) > head;
  switch (call.method) {
    case 'eth_blockNumber':
      return { ...call, method: 'eth_getBlockByNumber', params: [at, false] };
    case 'eth_getBlockByNumber':
      if (first === 'latest') return { ...call, params: [at, second] };
      return isAhead ? 'null' : call;
    case 'eth_getBlockReceipts':
      // Blocks come before their receipts on nodes that index late.
      return typeof first === 'string' && Number(first) >= head ? 'null' : call;
    case 'eth_getTransactionReceipt':
      return 'null';
    case 'eth_getTransactionCount':
    case 'eth_getBalance':
      return { ...call, params: [first, at] };
  }
  return call;
}
