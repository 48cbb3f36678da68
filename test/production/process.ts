/** `rewards start` as a process of its own, once it is ready. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const program = new URL('../../bin/rewards.js', import.meta.url).pathname;

export type Started = Awaited<ReturnType<typeof startProduction>>;

/** Throws with its log when it ends before it is ready. */
export async function startProduction(env: Record<string, string>, args: string[] = []) {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('REWARDS_'));
  const child = spawn(process.execPath, [program, 'start', '-o', 'json', ...args], {
    cwd: '/',
    env: { ...Object.fromEntries(kept), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  const reader = createInterface({ input: child.stdout });
  const line = await Promise.race([
    once(reader, 'line').then(([text]) => String(text)),
    closed.then(([code]) => `it ended with ${code}: ${log}`),
  ]);
  const parsed = line.startsWith('{') ? JSON.parse(line) : undefined;
  if (parsed?.type !== 'ready') throw new Error(`not ready: ${line}`);
  const ready: { urls: { events?: string; admin: string }; workers: string[] } = parsed;

  const request = async (url: string, init: RequestInit = {}) => {
    const response = await fetch(url, init);
    const text = await response.text();
    // biome-ignore lint/suspicious/noExplicitAny: tests look at bodies field by field
    const body: any = text.startsWith('{') ? JSON.parse(text) : text;
    return { status: response.status, headers: response.headers, body };
  };
  return {
    ready,
    child,
    log: () => log,
    logLines: () =>
      log
        .split('\n')
        .filter(Boolean)
        .map((text) => JSON.parse(text)),
    admin: (path: string) => request(ready.urls.admin + path),
    api: (path: string, init?: RequestInit) => request(`${ready.urls.events}/rewards-api${path}`, init),
    /** One event of the kit's brand, as a proxy would pass it on. */
    event: (body: Record<string, unknown>, headers: Record<string, string> = {}) =>
      request(`${ready.urls.events}/rewards-api/manual-event`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-proto': 'https', ...headers },
        body: JSON.stringify({ eventType: 'form_submit', domain: 'shop.example', ...body }),
      }),
    /** The value of one metric, by its name with labels; undefined when it is not there. */
    async metric(name: string): Promise<number | undefined> {
      const { body } = await request(`${ready.urls.admin}/metrics`);
      const found = String(body)
        .split('\n')
        .find((text) => text.startsWith(`${name} `));
      return found === undefined ? undefined : Number(found.slice(name.length + 1));
    },
    /** Waits for an end that was asked for before. */
    async ended() {
      const [code, by] = await closed;
      return { code, signal: by };
    },
    async stop(signal: NodeJS.Signals = 'SIGTERM') {
      child.kill(signal);
      const [code, by] = await closed;
      return { code, signal: by };
    },
  };
}
