/** Stands between a service and its payment processor: changes answers, loses them, refuses. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delay } from '../../../src/lib/timers.ts';

export interface ProcessorCall {
  method: string;
  path: string;
  fields: Record<string, string>;
  idempotencyKey: string | undefined;
}

/** lost-request: the processor never hears of it. lost-answer: it did it. A number: that status, and it never hears of it. */
export type ProcessorFault = 'lost-request' | 'lost-answer' | number;

/** An object of the processor as it is answered. */
// biome-ignore lint/suspicious/noExplicitAny: tests change objects field by field
export type ProcessorObject = any;

export type ProcessorProxy = Awaited<ReturnType<typeof startProcessorProxy>>;

/** `at` is for the override `processorAt`. */
export async function startProcessorProxy() {
  let target = '';
  let change: ((session: ProcessorObject) => ProcessorObject) | undefined;
  let fault: ((call: ProcessorCall) => ProcessorFault | undefined) | undefined;
  let pauseMs = 0;
  const calls: ProcessorCall[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { pathname: path, searchParams } = new URL(request.url ?? '', target);
    const fields = Object.fromEntries([...searchParams, ...new URLSearchParams(body.toString())]);
    const { 'idempotency-key': key, host: _, connection: __, ...headers } = request.headers;
    const call = { method: request.method ?? '', path, fields, idempotencyKey: key as string | undefined };
    calls.push(call);
    const mistake = fault?.(call);
    if (mistake === 'lost-request') return void request.socket.destroy();
    if (typeof mistake === 'number') {
      response.writeHead(mistake, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { type: mistake === 429 ? 'rate_limit_error' : 'api_error' } }));
      return;
    }
    if (pauseMs > 0) await delay(pauseMs);
    // A stack that stops may still ask when its processor is gone.
    const answer = await askProcessor(`${target}${request.url}`, {
      method: call.method,
      headers: { ...headers, ...(key !== undefined && { 'idempotency-key': String(key) }) } as Record<
        string,
        string
      >,
      ...(body.length > 0 && { body }),
    });
    if (!answer) return void request.socket.destroy();
    if (mistake === 'lost-answer') return void request.socket.destroy();
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(
      change === undefined ? answer.text : JSON.stringify(changed(JSON.parse(answer.text), change)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    at(origin: string): string {
      target = origin;
      return `http://127.0.0.1:${port}`;
    },
    calls,
    /** Changes every session that the processor tells of; undefined: none. */
    tamper(with_: typeof change) {
      change = with_;
    },
    fail(when: typeof fault) {
      fault = when;
    },
    /** Lets every question wait so long. */
    slow(ms: number) {
      pauseMs = ms;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Undefined when nobody answers. */
async function askProcessor(url: string, request: RequestInit) {
  try {
    const answer = await fetch(url, request);
    return { status: answer.status, text: await answer.text() };
  } catch {
    return undefined;
  }
}

function changed(answer: ProcessorObject, change: (session: ProcessorObject) => ProcessorObject) {
  if (answer.object === 'checkout.session') return change(answer);
  return answer.object === 'list'
    ? { ...answer, data: answer.data.map((one: ProcessorObject) => changed(one, change)) }
    : answer;
}
