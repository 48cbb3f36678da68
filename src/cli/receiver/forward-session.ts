/** Passes a paid session on to payment-mint, again after a pause when the service is in trouble. */
import { isObject } from '../service/assignments.ts';

/** What became of a session. */
export interface Forwarded {
  /** `done`: minted, now or before. `refused`: the same request never passes. `failed`: it may pass later. */
  outcome: 'done' | 'refused' | 'failed';
  /** Of the last try; null without an answer. */
  status: number | null;
  tries: number;
  message: string;
  transactionHash: string | null;
  alreadyProcessed: boolean;
}

export interface ForwardDeps {
  /** Address of payment-mint. */
  url: string;
  /** Pauses before the second and each later try. Contract: payment-mint, callers retry on 500. */
  retryDelaysMs: readonly number[];
  /** Longest wait for an answer of payment-mint. */
  timeoutMs: number;
  fetch: typeof fetch;
  sleep: (ms: number) => Promise<void>;
  /** Told before each pause. */
  onRetry: (told: { sessionId: string; status: number | null; message: string; inMs: number }) => void;
  signal: AbortSignal;
}

export async function forwardSession(deps: ForwardDeps, sessionId: string): Promise<Forwarded> {
  for (let tries = 1; ; tries++) {
    const answer = await askOnce(deps, sessionId);
    const inMs = deps.retryDelaysMs[tries - 1];
    if (answer.outcome !== 'failed' || inMs === undefined || deps.signal.aborted) return { ...answer, tries };
    deps.onRetry({ sessionId, status: answer.status, message: answer.message, inMs });
    await deps.sleep(inMs);
  }
}

async function askOnce(
  { url, timeoutMs, fetch, signal }: ForwardDeps,
  sessionId: string,
): Promise<Omit<Forwarded, 'tries'>> {
  const nothing = { transactionHash: null, alreadyProcessed: false };
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ sessionId }),
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    const body = parsed(await response.text());
    const { status } = response;
    const message = typeof body.message === 'string' ? body.message : '';
    const hash = typeof body.txHash === 'string' ? body.txHash : null;
    if (status === 200 && body.success === true) {
      const alreadyProcessed = body.alreadyProcessed === true;
      return { outcome: 'done', status, message, transactionHash: hash, alreadyProcessed };
    }
    // Too many requests, and answers of proxies in between, say nothing about the session.
    const isFinal =
      status >= 400 && status < 500 && ![408, 425, 429].includes(status) && body.success === false;
    return { outcome: isFinal ? 'refused' : 'failed', status, message, ...nothing };
  } catch (error) {
    return { outcome: 'failed', status: null, message: connectionTrouble(error), ...nothing };
  }
}

function connectionTrouble(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = (cause as NodeJS.ErrnoException).code;
  if (typeof code === 'string') return code;
  return error instanceof Error && error.name === 'TimeoutError'
    ? 'no answer in time'
    : 'the connection broke off';
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
