/** Time, chance and the network as the browser has them; the only file of the script that reads them. */

export const nowMs = () => Date.now();

/** Calls `work` after `ms`. */
export const later = (ms: number, work: () => void) => setTimeout(work, ms);

/** 32 random hexadecimal digits; on pages without HTTPS too, where `randomUUID` is missing. */
export function randomKey(): string {
  let key = '';
  for (const byte of crypto.getRandomValues(new Uint8Array(16))) key += byte.toString(16).padStart(2, '0');
  return key;
}

const isOffline = () => navigator.onLine === false;

/** Resolves after `ms`, or as soon as the browser says that it is online again. */
const pause = (ms: number) =>
  new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener('online', done);
  });

const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 16_000];
/** Browsers are sometimes wrong about being offline, so that word only slows tries down. */
const OFFLINE_PAUSE_MS = 60_000;

/** Tries until `attempt` gives a value; undefined after six tries without one. */
export async function persist<T>(attempt: () => Promise<T | undefined>): Promise<T | undefined> {
  for (const pauseMs of [...PAUSES_MS, 0]) {
    if (isOffline()) await pause(OFFLINE_PAUSE_MS);
    const result = await attempt();
    if (result !== undefined || !pauseMs) return result;
    // A random pause, so that not all pages ask in the second in which the service comes back.
    await pause(pauseMs * (0.75 + Math.random() / 2));
  }
  return undefined;
}

/** A server's answer. */
export interface Reply {
  httpStatus: number;
  body: Record<string, unknown>;
}

/** Longer than the service takes for its slowest answer. */
const TIMEOUT_MS = 30_000;
/** Gateways and the service say with these that nothing was done. */
const TRY_AGAIN = [502, 503, 504];

/** One request; undefined when no answer came or the answer was to try again. Never throws. */
export async function request(url: string, init: RequestInit = {}): Promise<Reply | undefined> {
  const abort = new AbortController();
  const timer = later(TIMEOUT_MS, () => abort.abort());
  try {
    const response = await fetch(url, { ...init, credentials: 'omit', signal: abort.signal });
    if (TRY_AGAIN.includes(response.status)) return undefined;
    const body: unknown = await response.json().catch(() => undefined);
    if (isMap(body)) return { httpStatus: response.status, body };
    // A good answer that broke off was not heard; a bad one needs no text.
    return response.ok ? undefined : { httpStatus: response.status, body: {} };
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

export const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
