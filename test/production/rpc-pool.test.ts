/** Several nodes as one: who is asked when one fails, and what may never be asked twice. */
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRpc, type Rpc, RpcAnswerError, RpcTooLargeError } from '../../src/chain/rpc/rpc.ts';
import { createRpcPool, type RpcOutcome } from '../../src/chain/rpc/rpc-pool.ts';
import { silentLog } from '../../src/lib/log.ts';

/** A node that answers as it is told. */
async function node(chainId: number) {
  const state = {
    mode: 'well' as 'well' | 'down' | 'busy' | 'too_many' | 'error' | 'large' | 'limited',
    asked: [] as string[],
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, method } = JSON.parse(body);
    state.asked.push(method);
    if (state.mode === 'down') return response.writeHead(503).end('no');
    const error = {
      busy: { code: -32005, message: 'limit' },
      too_many: { code: 429, message: 'too many requests' },
      error: { code: 3, message: 'execution reverted' },
      limited: { code: -32005, message: 'query returned more than 10000 results' },
    };
    const results = { well: '0x1', large: `0x${'00'.repeat(10_000)}` };
    const answer =
      method === 'eth_chainId'
        ? { result: `0x${chainId.toString(16)}` }
        : state.mode === 'well' || state.mode === 'large'
          ? { result: results[state.mode] }
          : { error: error[state.mode] };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  return {
    state,
    rpc: createRpc({ url, timeoutMs: 2_000, answerMaxBytes: 10_000 }),
    close: () => server.close(),
  };
}

let first: Awaited<ReturnType<typeof node>>;
let second: Awaited<ReturnType<typeof node>>;
let foreign: Awaited<ReturnType<typeof node>>;
let nowMs = 0;
const outcomes: [number, RpcOutcome][] = [];
const requests: { method: string; seconds: number }[] = [];

beforeAll(async () => {
  [first, second, foreign] = await Promise.all([node(7), node(7), node(8)]);
});
afterAll(() => {
  for (const one of [first, second, foreign]) one.close();
});

function pool(...nodes: (typeof first)[]) {
  for (const one of [first, second, foreign]) Object.assign(one.state, { mode: 'well', asked: [] });
  outcomes.length = 0;
  requests.length = 0;
  return createRpcPool({
    nodes: nodes.map(({ rpc }) => rpc),
    chainId: 7,
    log: silentLog,
    nowMs: () => nowMs,
    restMs: 1_000,
    onRequest({ node: place, outcome, method, seconds }) {
      outcomes.push([place, outcome]);
      requests.push({ method, seconds });
    },
  });
}
const asked = ({ state }: typeof first) => state.asked.filter((method) => method !== 'eth_chainId').length;

test('the first node is asked, and once for its chain', async () => {
  const rpc = pool(first, second);
  await rpc('eth_blockNumber', []);
  await rpc('eth_blockNumber', []);
  expect(first.state.asked).toEqual(['eth_chainId', 'eth_blockNumber', 'eth_blockNumber']);
  expect(second.state.asked).toEqual([]);
});

test('a node that does not answer rests, and then has its chain checked again', async () => {
  const rpc = pool(first, second);
  first.state.mode = 'down';
  expect(await rpc('eth_blockNumber', [])).toBe('0x1');
  expect(await rpc('eth_blockNumber', [])).toBe('0x1');
  expect([asked(first), asked(second)]).toEqual([0, 2]);
  first.state.mode = 'well';
  nowMs += 1_001;
  await rpc('eth_blockNumber', []);
  expect([asked(first), asked(second)]).toEqual([1, 2]);
  expect(outcomes.map(([place, outcome]) => `${place} ${outcome}`)).toEqual([
    '1 unreachable',
    '2 answered',
    '2 answered',
    '1 answered',
  ]);
});

test.each(['busy', 'too_many'] as const)(
  'a node at its limit is passed over, an answer that says no is an answer: %s',
  async (mode) => {
    const rpc = pool(first, second);
    first.state.mode = mode;
    expect(await rpc('eth_gasPrice', [])).toBe('0x1');
    nowMs += 1_001;
    first.state.mode = 'error';
    await expect(rpc('eth_gasPrice', [])).rejects.toThrow('execution reverted');
    expect(asked(second)).toBe(1);
  },
);

test('signed bytes go to the next node, the same ones', async () => {
  const rpc = pool(first, second);
  first.state.mode = 'down';
  expect(await rpc('eth_sendRawTransaction', ['0x02'])).toBe('0x1');
  expect(asked(second)).toBe(1);
});

test('a node of another chain is asked nothing but its chain', async () => {
  const rpc = pool(foreign, second);
  expect(await rpc('eth_blockNumber', [])).toBe('0x1');
  expect(await rpc('eth_blockNumber', [])).toBe('0x1');
  expect(foreign.state.asked).toEqual(['eth_chainId']);
  expect(outcomes[0]).toEqual([1, 'other_chain']);
  expect(requests.map(({ method }) => method)).toEqual(['eth_chainId', 'eth_blockNumber', 'eth_blockNumber']);
  await expect(pool(foreign)('eth_blockNumber', [])).rejects.toMatchObject({ reason: 'no answer' });
});

test('when all rest, all are asked; when none answers, that is said', async () => {
  const rpc = pool(first, second);
  Object.assign(first.state, { mode: 'down' });
  Object.assign(second.state, { mode: 'down' });
  await expect(rpc('eth_blockNumber', [])).rejects.toThrow('no answer from the node');
  second.state.mode = 'well';
  expect(await rpc('eth_blockNumber', [])).toBe('0x1');
});

test('nothing that a node would sign itself is ever asked', async () => {
  const rpc = pool(first, second);
  for (const method of ['eth_sendTransaction', 'eth_sign', 'personal_sign', 'anvil_setBalance']) {
    await expect(rpc(method, [])).rejects.toThrow('may not be sent');
  }
  expect(first.state.asked).toEqual([]);
});

test.each([
  ['our limit', 'large', 'eth_getBlockReceipts'],
  ['its own limit', 'limited', 'eth_getLogs'],
] as const)('an answer over %s is too large; the node is in use as before', async (_, mode, method) => {
  const rpc = pool(first, second);
  first.state.mode = mode;
  await expect(rpc(method, [])).rejects.toThrow(RpcTooLargeError);
  first.state.mode = 'well';
  expect(await rpc('eth_blockNumber', [])).toBe('0x1');
  expect([asked(first), asked(second)]).toEqual([2, 0]);
  expect(outcomes).toEqual([
    [1, 'too_large'],
    [1, 'answered'],
  ]);
});

test('the words of a limit mean nothing where signed bytes are sent', async () => {
  const rpc = pool(first, second);
  Object.assign(first.state, { mode: 'limited' });
  Object.assign(second.state, { mode: 'limited' });
  await expect(rpc('eth_sendRawTransaction', ['0x02'])).rejects.toThrow(RpcAnswerError);
});

test.each([
  ['a node before it gave no answer', 'down', true],
  ['it was asked alone', 'well', false],
] as const)('a refusal says whether another node may have the bytes: %s', async (_, mode, unanswered) => {
  const rpc = mode === 'down' ? pool(first, second) : pool(second);
  Object.assign(first.state, { mode });
  Object.assign(second.state, { mode: 'error' });
  await expect(rpc('eth_sendRawTransaction', ['0x02'])).rejects.toMatchObject({
    othersUnanswered: unanswered,
  });
});

test('a node that failed after it was known has its chain checked again', async () => {
  const rpc = pool(first);
  await rpc('eth_blockNumber', []);
  first.state.mode = 'down';
  await expect(rpc('eth_blockNumber', [])).rejects.toThrow('no answer');
  first.state.mode = 'well';
  await rpc('eth_blockNumber', []);
  const once = ['eth_chainId', 'eth_blockNumber'];
  expect(first.state.asked).toEqual([...once, 'eth_blockNumber', ...once]);
});

test('each request is told by what came of it', async () => {
  const rpc = pool(first, second);
  await rpc('eth_gasPrice', []);
  first.state.mode = 'busy';
  await rpc('eth_gasPrice', []);
  nowMs += 1_001;
  first.state.mode = 'well';
  await rpc('eth_gasPrice', []);
  first.state.mode = 'error';
  await expect(rpc('eth_gasPrice', [])).rejects.toThrow('execution reverted');
  expect(outcomes.map(([place, outcome]) => `${place} ${outcome}`)).toEqual([
    '1 answered',
    '1 unreachable',
    '2 answered',
    '1 answered',
    '1 error',
  ]);
  const requested = requests.filter(({ method }) => method !== 'eth_chainId');
  expect(requested.map(({ method }) => method)).toEqual(Array(5).fill('eth_gasPrice'));
});

test('the time of a request is that of the node that was asked', async () => {
  const seen: object[] = [];
  let now = 0;
  const rpc = createRpcPool({
    nodes: [
      async (method) => {
        now += method === 'eth_chainId' ? 10 : 250;
        return method === 'eth_chainId' ? '0x7' : '0x1';
      },
    ],
    chainId: 7,
    log: silentLog,
    nowMs: () => now,
    restMs: 1_000,
    onRequest: (request) => seen.push(request),
  });
  await rpc('eth_gasPrice', []);
  expect(seen).toEqual([{ node: 1, method: 'eth_gasPrice', outcome: 'answered', seconds: 0.25 }]);
});

test.each([
  ['another gave no answer', 'down', true],
  ['another was busy too', 'busy', true],
  ['it was asked alone', undefined, false],
] as const)('so does one of a busy node: %s', async (_, mode, unanswered) => {
  const rpc = mode ? pool(first, second) : pool(second);
  if (mode) first.state.mode = mode;
  second.state.mode = 'busy';
  await expect(rpc('eth_sendRawTransaction', ['0x02'])).rejects.toMatchObject({
    rpcCode: -32005,
    othersUnanswered: unanswered,
  });
});

test('an error that is not a node’s is not blamed on one', async () => {
  let asked = 0;
  const broken: Rpc = async (method) => {
    asked += 1;
    if (method === 'eth_chainId') return '0x7';
    throw new Error('a mistake of ours');
  };
  const rpc = createRpcPool({
    nodes: [broken, broken],
    chainId: 7,
    log: silentLog,
    nowMs: () => 0,
    restMs: 1,
  });
  await expect(rpc('eth_blockNumber', [])).rejects.toThrow('a mistake of ours');
  expect(asked).toBe(2);
});
