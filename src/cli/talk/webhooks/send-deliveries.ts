/** Signs planned deliveries, sends them, and keeps each answer. */
import Stripe from 'stripe';
import { stopwatch } from '../../../lib/timers.ts';
import { isObject } from '../../service/assignments.ts';
import { type PlannedDelivery, tamperedBody, tamperedHeader } from './plan-deliveries.ts';

export interface Delivered {
  number: number;
  eventId: string;
  type: string;
  objectId: string;
  /** Null without an answer. */
  status: number | null;
  /** What the answer says, or why an answer is missing. */
  message: string;
  /** Where the receiver is payment-mint. */
  alreadyProcessed: boolean;
  transactionHash: string | null;
  durationMs: number;
}

interface SendDeps {
  to: string;
  secret: string;
  /** Of the processor, by whose clock signatures are made. */
  nowMs: () => Promise<number>;
  /** How far signatures lie in the past; negative for the future. */
  agedBySeconds: number;
  /** Between signing and sending. */
  delayMs: number;
  concurrency: number;
  timeoutMs: number;
  sleep: (ms: number) => Promise<void>;
  fetch: typeof fetch;
}

/** The beginning of an answer is shown, not all of it. */
const MESSAGE_MAX = 200;

/** In order, `concurrency` at a time; the answers by number. */
export async function sendDeliveries(
  deps: SendDeps,
  planned: readonly PlannedDelivery[],
): Promise<Delivered[]> {
  const delivered: Delivered[] = [];
  const waiting = planned[Symbol.iterator]();
  const carry = async () => {
    for (const delivery of waiting) delivered.push(await sendOne(deps, delivery));
  };
  await Promise.all(Array.from({ length: deps.concurrency }, carry));
  return delivered.sort((a, b) => a.number - b.number);
}

async function sendOne(deps: SendDeps, planned: PlannedDelivery): Promise<Delivered> {
  const { event, body, number, tamper } = planned;
  const timestamp = Math.floor((await deps.nowMs()) / 1_000) - deps.agedBySeconds;
  const header = Stripe.webhooks.generateTestHeaderString({ payload: body, secret: deps.secret, timestamp });
  if (deps.delayMs > 0) await deps.sleep(deps.delayMs);
  const elapsedMs = stopwatch();
  const answer = await post(deps, {
    body: tamperedBody(planned),
    signature: tamperedHeader(header, tamper),
  });
  const { id: eventId, type, objectId } = event;
  return { number, eventId, type, objectId, ...answer, durationMs: Math.round(elapsedMs()) };
}

async function post(
  { to, timeoutMs, fetch }: SendDeps,
  { body, signature }: { body: string; signature: string },
): Promise<Pick<Delivered, 'status' | 'message' | 'alreadyProcessed' | 'transactionHash'>> {
  try {
    const response = await fetch(to, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    return { status: response.status, ...answerOf(await response.text()) };
  } catch (error) {
    const message =
      error instanceof Error && error.name === 'TimeoutError' ? 'no answer in time' : troubleOf(error);
    return { status: null, message, alreadyProcessed: false, transactionHash: null };
  }
}

function answerOf(text: string): Pick<Delivered, 'message' | 'alreadyProcessed' | 'transactionHash'> {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  if (!isObject(body)) return { message: beginning(text), alreadyProcessed: false, transactionHash: null };
  const said = [body.message, body.error].find((one) => typeof one === 'string');
  return {
    message: beginning(typeof said === 'string' ? said : text),
    alreadyProcessed: body.alreadyProcessed === true,
    transactionHash: typeof body.txHash === 'string' ? body.txHash : null,
  };
}

/** On one line, without what would move a terminal's cursor. */
function beginning(text: string): string {
  const line = text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
  return line.length > MESSAGE_MAX ? `${line.slice(0, MESSAGE_MAX)}…` : line;
}

function troubleOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = (cause as NodeJS.ErrnoException).code;
  return typeof code === 'string' ? code : 'the connection broke off';
}
