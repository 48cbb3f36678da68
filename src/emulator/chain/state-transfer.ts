/**
 * Takes a whole state out of our own Anvil, and gives it one, piece by piece: as JSON-RPC sends it, it is one string of
 * twice its size, which would be in memory several times over.
 */

import { once } from 'node:events';
import { Agent, type ClientRequest, request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { RpcAnswerError, RpcUnreachableError } from '../../chain/rpc/rpc.ts';

/** Dumping or loading the state of a large chain takes the node seconds, in which it says nothing. */
const SILENCE_MS = 120_000;
/** What may come before a result, and how long an error may be. */
const SHORT_ANSWER_MAX = 64 * 1024;
const RESULT = '"result":"0x';

/** The bytes of the node's state, compressed as `anvil_dumpState` gives them. */
export async function* dumpState(url: string): AsyncGenerator<Buffer> {
  const method = 'anvil_dumpState';
  const asking = open(url);
  asking.end(JSON.stringify({ jsonrpc: '2.0', id: 0, method, params: [] }));
  try {
    yield* hexResult(method, await answerTo(asking));
  } catch (error) {
    throw asRpcError(method, error);
  } finally {
    asking.destroy();
  }
}

/** Gives the node such a state. */
export async function loadState(url: string, state: AsyncIterable<Buffer>): Promise<void> {
  const method = 'anvil_loadState';
  const asking = open(url);
  try {
    const answering = answerTo(asking);
    await Promise.all([pipeline(Readable.from(hexCall(method, state)), asking), answering]);
    const answer = await shortAnswer(await answering);
    if (answer.error) throw new RpcAnswerError(method, answer.error);
    if (answer.result !== true) throw new RpcUnreachableError(method, 'an unreadable answer');
  } catch (error) {
    throw asRpcError(method, error);
  } finally {
    asking.destroy();
  }
}

function open(url: string): ClientRequest {
  const headers = { 'content-type': 'application/json' };
  const asking = request(url, { method: 'POST', agent: new Agent(), headers, timeout: SILENCE_MS });
  asking.on('timeout', () => asking.destroy(new Error('timed out')));
  return asking;
}

async function answerTo(asking: ClientRequest): Promise<AsyncIterable<Buffer>> {
  const [answer] = await once(asking, 'response');
  return answer;
}

const asRpcError = (method: string, error: unknown) =>
  error instanceof RpcAnswerError || error instanceof RpcUnreachableError
    ? error
    : new RpcUnreachableError(method, 'no answer');

async function* hexCall(method: string, bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  yield `{"jsonrpc":"2.0","id":0,"method":"${method}","params":["0x`;
  for await (const piece of bytes) yield piece.toString('hex');
  yield '"]}';
}

/** The bytes of the hex string that is an answer's result, however long it is. */
async function* hexResult(method: string, answer: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let beginning: string | undefined = '';
  let half = '';
  let isComplete = false;
  for await (const chunk of answer) {
    let text = chunk.toString('latin1');
    if (beginning !== undefined) {
      beginning += text;
      const at = beginning.indexOf(RESULT);
      if (at < 0 && beginning.length > SHORT_ANSWER_MAX) break;
      if (at < 0) continue;
      text = beginning.slice(at + RESULT.length);
      beginning = undefined;
    }
    if (isComplete) continue;
    const end = text.indexOf('"');
    isComplete = end >= 0;
    const digits = half + (isComplete ? text.slice(0, end) : text);
    const even = digits.length - (digits.length % 2);
    half = digits.slice(even);
    const bytes = Buffer.from(digits.slice(0, even), 'hex');
    if (bytes.length * 2 !== even) throw new RpcUnreachableError(method, 'an unreadable answer');
    yield bytes;
  }
  const refusal = beginning === undefined ? undefined : parsed(beginning).error;
  if (refusal) throw new RpcAnswerError(method, refusal);
  if (!isComplete || half) throw new RpcUnreachableError(method, 'an unreadable answer');
}

interface Answer {
  result?: unknown;
  error?: { code: number; message: string };
}

async function shortAnswer(answer: AsyncIterable<Buffer>): Promise<Answer> {
  let text = '';
  for await (const chunk of answer) {
    text += chunk.toString();
    if (text.length > SHORT_ANSWER_MAX) break;
  }
  return parsed(text);
}

function parsed(text: string): Answer {
  try {
    return JSON.parse(text) as Answer;
  } catch {
    return {};
  }
}
