/** Requests of one turn to a node: what goes together, what each caller is told, and nodes that take one at a time. */
import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createRpc } from '../../src/chain/rpc/rpc.ts';

interface Asked {
  id: number;
  method: string;
  params: unknown[];
}
type Reply = { status?: number; body: unknown };

let url = '';
let posts: (Asked | Asked[])[] = [];
let reply: (asked: Asked | Asked[]) => Reply;
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const asked = JSON.parse(body) as Asked | Asked[];
  posts.push(asked);
  const { status = 200, body: answer } = reply(asked);
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  response.writeHead(status, { 'content-type': 'application/json' }).end(text);
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  posts = [];
  reply = (asked) => ({ body: Array.isArray(asked) ? asked.map(answerTo).toReversed() : answerTo(asked) });
});

/** The balance of an account is what it is called; one of them has none that can be told. */
const answerTo = ({ id, params }: Asked) =>
  params[0] === '0xbad'
    ? { id, error: { code: -32000, message: 'header not found' } }
    : { id, result: params[0] };
const start = (batchMax = 100) => createRpc({ url, timeoutMs: 20_000, answerMaxBytes: 10_000, batchMax });
const balances = (rpc: ReturnType<typeof start>, accounts: string[]) =>
  Promise.allSettled(accounts.map((account) => rpc('eth_getBalance', [account, 'latest'])));
const values = (settled: PromiseSettledResult<unknown>[]) =>
  settled.map((one) => (one.status === 'fulfilled' ? one.value : (one.reason as Error).name));
const sizes = () => posts.map((one) => (Array.isArray(one) ? one.length : 1));

test('requests of one turn go in one post, each with its own answer or error', async () => {
  const answers = await balances(start(), ['0x1', '0xbad', '0x3']);
  expect(values(answers)).toEqual(['0x1', 'RpcAnswerError', '0x3']);
  expect(sizes()).toEqual([3]);
});

test('the same question is asked once, signed bytes are sent as often as they are handed over', async () => {
  const rpc = start();
  const send = () => rpc('eth_sendRawTransaction', ['0xaa']);
  const answers = await Promise.all([
    ...['0x1', '0x1'].map((one) => rpc('eth_getBalance', [one, 'latest'])),
    send(),
    send(),
  ]);
  expect(answers).toEqual(['0x1', '0x1', '0xaa', '0xaa']);
  expect(sizes().toSorted()).toEqual([1, 2]);
});

test('no post has more requests than a node takes, and signed bytes keep their order', async () => {
  const rpc = start(2);
  const sent = ['0x01', '0x02', '0x03', '0x04', '0x05'];
  expect(await Promise.all(sent.map((raw) => rpc('eth_sendRawTransaction', [raw])))).toEqual(sent);
  expect(posts.flat().map(({ params }) => params[0])).toEqual(sent);
  expect(sizes()).toEqual([2, 2, 1]);
});

test('what grows with a block, and what has a limit of its own, goes by itself', async () => {
  const rpc = start();
  reply = () => ({ body: { result: [] } });
  await Promise.all([
    rpc('eth_getBlockReceipts', ['0x1']),
    rpc('eth_getLogs', [{}], { answerMaxBytes: 100 }),
  ]);
  expect(sizes()).toEqual([1, 1]);
});

test.each<[string, Reply]>([
  ['an error', { body: { id: null, error: { code: -32600, message: 'batches are not supported' } } }],
  ['an error of its own code', { body: { id: null, error: { code: -32005000, message: 'no batches' } } }],
  ['a status', { status: 400, body: 'Bad Request' }],
  ['an answer that is too large', { body: 'x'.repeat(20_000) }],
])('a node that refuses a batch with %s is asked one by one from then on', async (_, refusal) => {
  const single = reply;
  reply = (asked) => (Array.isArray(asked) ? refusal : single(asked));
  const rpc = start();
  expect(values(await balances(rpc, ['0x1', '0xbad', '0x3']))).toEqual(['0x1', 'RpcAnswerError', '0x3']);
  expect(sizes()).toEqual([3, 1, 1, 1]);
  expect(values(await balances(rpc, ['0x4', '0x5']))).toEqual(['0x4', '0x5']);
  expect(sizes()).toEqual([3, 1, 1, 1, 1, 1]);
  const sent = ['0x01', '0x02', '0x03'];
  await Promise.all(sent.map((raw) => rpc('eth_sendRawTransaction', [raw])));
  expect(posts.slice(-3).map((one) => (one as Asked).params[0])).toEqual(sent);
});

test('requests that a node left out of its answer are asked one by one', async () => {
  const all = reply;
  reply = (asked) =>
    Array.isArray(asked)
      ? {
          body: [answerTo(asked[0] as Asked), { id: 2, error: { code: -32600, message: 'batch too large' } }],
        }
      : all(asked);
  const rpc = start();
  expect(values(await balances(rpc, ['0x1', '0x2', '0x3']))).toEqual(['0x1', '0x2', '0x3']);
  expect(sizes()).toEqual([3, 1, 1]);
});

test.each<[string, Reply, string]>([
  ['is overloaded', { status: 429, body: { error: { code: 429, message: 'slow down' } } }, 'RpcAnswerError'],
  ['is not there', { status: 503, body: 'no backend' }, 'RpcUnreachableError'],
  ['says nothing that can be read', { body: '<!doctype html>' }, 'RpcUnreachableError'],
])('when a node %s, each caller is told so, and nothing is asked again', async (_, answer, name) => {
  reply = () => answer;
  expect(values(await balances(start(), ['0x1', '0x2']))).toEqual([name, name]);
  expect(sizes()).toEqual([2]);
});
