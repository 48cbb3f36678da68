/** The payment processor, failing while a fault is set: its API, and its events on their way. */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../lib/clock.ts';
import { delay } from '../../lib/timers.ts';
import type { FaultRegistry } from './fault-registry.ts';

type Faults = Pick<FaultRegistry, 'strike'>;

export interface ProcessorApi {
  fetch(request: Request, env?: unknown): Response | Promise<Response>;
}

/** Answers as `api` does, or as a fault has it. */
export const faultyApi = (api: ProcessorApi, faults: Faults): ProcessorApi => ({
  async fetch(request, env) {
    const slow = faults.strike('processor', ['slow']);
    if (slow) await delay(slow.amount ?? 0);
    const struck = faults.strike('processor', ['away', '500', 'answer-lost']);
    if (!struck) return api.fetch(request, env);
    if (struck.effect === '500') {
      const message = 'The processor fails by a fault that is set.';
      return Response.json({ error: { type: 'api_error', message } }, { status: 500 });
    }
    if (struck.effect === 'answer-lost') await api.fetch(request, env);
    // The caller sees a broken connection; this return value is never sent.
    (env as { incoming?: IncomingMessage } | undefined)?.incoming?.socket.destroy();
    return new Response(null, { status: 502 });
  },
});

/** How long an event waits for the one that is to overtake it. */
const OVERTAKEN_WITHIN_MS = 10_000;

/** Around each attempt to deliver an event; `dropped` is what the processor notes of one that is lost. */
export function faultyDelivery({ faults, clock }: { faults: Faults; clock: Clock }) {
  const overtaken = new Set<() => void>();
  return async function deliver<Tried>(
    send: () => Promise<Tried>,
    { dropped, stopping }: { dropped: () => Tried; stopping: AbortSignal },
  ): Promise<Tried> {
    const struck = faults.strike('processor-events', ['drop', 'twice', 'delay', 'reorder']);
    switch (struck?.effect) {
      case 'drop':
        return dropped();
      case 'twice':
        await send();
        return send();
      case 'delay':
        await clock.sleep(struck.amount ?? 0, stopping);
        return send();
      case 'reorder': {
        const turn = new AbortController();
        const go = () => turn.abort();
        overtaken.add(go);
        await delay(OVERTAKEN_WITHIN_MS, AbortSignal.any([turn.signal, stopping]));
        overtaken.delete(go);
        return send();
      }
      default:
        return send().finally(() => {
          for (const go of overtaken) go();
        });
    }
  };
}

export type DeliverAround = ReturnType<typeof faultyDelivery>;
