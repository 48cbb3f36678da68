/** Between the listeners, which stay, and the stack behind them, which can be closed and opened again. */

import { createAsyncContext } from '../../lib/async-context.ts';
import { delay, stopwatch, within } from '../../lib/timers.ts';
import { createWakeSignal } from '../../lib/wake-signal.ts';
import type { ListenerApps, ListenerName, SiteHost } from '../open-hosts.ts';

/** In the path of every request that may ask the gate to close, on whichever listener. */
const CONTROL = '/_rewards';

export interface GateSettings {
  /** How long a request waits while the stack is away, before it is told to come again. */
  waitMaxMs: number;
  /** How long new requests are still let in when the gate closes, since those under way may need them. */
  settleMs: number;
  /** How long a closing gate waits for requests under way. */
  drainTimeoutMs: number;
}

/** Told of each request that reaches the stack. */
export interface GateWatcher {
  before(method: string, path: string): Promise<void>;
  /** `answer` is undefined where the stack failed to give one. */
  after(method: string, path: string, answer: Response | undefined): void;
}

export type DrainGate = ReturnType<typeof createDrainGate>;

export function createDrainGate(settings: GateSettings, watcher?: GateWatcher) {
  let apps: ListenerApps | undefined;
  let opening = createOpening();
  const underWay = new Set<symbol>();
  const left = createWakeSignal();
  const own = createAsyncContext<symbol>();

  const opened = async () => apps ?? (await within(settings.waitMaxMs, opening.opened));

  const answer = async (name: ListenerName, request: Request, env: unknown): Promise<Response> => {
    const present = await opened();
    const app = present?.[name];
    if (!app) return restoring();
    const id = Symbol(name);
    underWay.add(id);
    try {
      const { method } = request;
      const path = new URL(request.url).pathname;
      await watcher?.before(method, path);
      let response: Response | undefined;
      try {
        const fetch = async () => app.fetch(request, env as Record<string, unknown>);
        // From the first of these on, Node follows every promise of the process.
        const mayClose = method !== 'GET' && path.includes(CONTROL);
        response = mayClose ? await own.run(id, fetch) : await fetch();
        return response;
      } finally {
        watcher?.after(method, path, response);
      }
    } finally {
      underWay.delete(id);
      left.ring();
    }
  };
  const quiet = async (forMs: number) => {
    const elapsedMs = stopwatch();
    while (underWay.size > 0 && elapsedMs() < forMs) await left.heard({ timeoutMs: forMs - elapsedMs() });
  };

  return {
    /** What stands behind a listener for as long as that is open. */
    at: (name: ListenerName): SiteHost => ({ fetch: (request, env) => answer(name, request, env) }),
    /** Lets requests in, those first that wait. */
    open(now: ListenerApps): void {
      apps = now;
      opening.open(now);
    },
    /** Resolves when requests are let in, and at the latest when they would be told to come again. */
    opened: async (): Promise<void> => void (await opened()),
    /** The stack does not come back, and waiting callers are told so. */
    giveUp(): void {
      opening.open(undefined);
    },
    /** Keeps new requests waiting; resolves when those under way are answered. The request that asks for it does not count. */
    async close(): Promise<void> {
      const asking = own.current();
      if (asking) underWay.delete(asking);
      await quiet(settings.settleMs);
      opening = createOpening();
      apps = undefined;
      await quiet(settings.drainTimeoutMs);
      // What was answered last is still being written.
      await delay(0);
    },
  };
}

function createOpening() {
  let open: (apps: ListenerApps | undefined) => void = () => undefined;
  const opened = new Promise<ListenerApps | undefined>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

const restoring = () =>
  Response.json(
    {
      error: 'A snapshot is being restored',
      message:
        'No request is answered while the data is replaced. Send it again in a second; if this goes on, the snapshot could not be opened: look at `rewards logs`, and start the stack again.',
    },
    { status: 503, headers: { 'retry-after': '1' } },
  );
