/** The last answers of the ledger to the operator's pages, for while it is away. */
import type { Child } from 'hono/jsx';
import { callThrough } from '../../console/call-through.ts';
import type { ConsolePage, Visit } from '../../console/page.ts';
import type { Clock } from '../../lib/clock.ts';

/** An answer of the control API, as pages may show it. */
export interface Answer {
  text: string;
  status: number;
}

/** Of the questions that were asked last; an answer may have some hundred kilobytes. */
const KEPT_MAX = 30;

export type LastAnswers = ReturnType<typeof lastAnswers>;

/** Keeps the answers in memory, each with its moment. */
export function lastAnswers(clock: Pick<Clock, 'now'>) {
  const kept = new Map<string, Answer & { atMs: number }>();
  return {
    keep(url: string, answer: Answer): void {
      if (answer.status !== 200) return;
      kept.delete(url);
      kept.set(url, { ...answer, atMs: clock.now() });
      const [oldest] = kept.keys();
      if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
    },
    /** The page as these answers make it, and the moment of the oldest; undefined where one of them is missing. */
    async pageOf(page: ConsolePage, visit: Visit): Promise<{ atMs: number; body: Child } | undefined> {
      let atMs = clock.now();
      let isMissing = false;
      const call = callThrough(async ({ url }) => {
        const known = kept.get(url);
        isMissing ||= known === undefined;
        atMs = Math.min(atMs, known?.atMs ?? atMs);
        const { text, status } = known ?? { text: '{}', status: 404 };
        return new Response(text, { status, headers: { 'content-type': 'application/json' } });
      });
      const { body } = await page
        .view({ ...visit, call, fromMemory: true })
        .catch(() => ({ body: undefined }));
      return isMissing || body === undefined ? undefined : { atMs, body };
    },
  };
}
