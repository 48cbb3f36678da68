/** Where a stack can go back to: its state before each of the latest requests that changed something. */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { settings } from '../../compose/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { stopwatch, within } from '../../lib/timers.ts';
import { LEDGER, SITE_STORE } from '../state/data-files.ts';
import type { Manifest } from './manifest.ts';
import { type Images, newestCheckpoint, type Running, takeImages } from './take-snapshot.ts';

/** A request that changed something. */
export interface Change {
  /** The X-Request-Id of its answer; null for requests that have none, such as those of the control API. */
  id: string | null;
  at: string;
  method: string;
  path: string;
  status: number;
}

interface Point {
  ledger: Buffer;
  site: Buffer | undefined;
  clock: Manifest['clock'];
  checkpoint: { name: string; bytes: Buffer } | undefined;
  /** What came since, up to the next point. */
  changes: Change[];
}

export type UndoPoints = ReturnType<typeof createUndoPoints>;

const pack = promisify(gzip);
const unpack = promisify(gunzip);

/** What looks only, or belongs to other changes: the stack itself sends it. */
const CHANGES_NOTHING =
  /^\/_rewards\/(?:snapshot|snapshots|restore|undo|reset|tokens|inbox|faults|requests|constraints\/check)(?:\/|$)/;
const FOLLOWS = /\/payment-mint$/;

export function createUndoPoints(running: () => Running | undefined, machine: Pick<Clock, 'now'>) {
  const { pointsMax, takeMaxMs, ledgerBytesMax } = settings.undo;
  let points: Point[] = [];
  let underWay = 0;
  let taking: Promise<void> | undefined;

  const at = () => new Date(machine.now()).toISOString();

  async function take(withinMs: number): Promise<void> {
    const stack = running();
    if (!stack) return;
    const elapsedMs = stopwatch();
    const images = await takeImages(stack, { checkpoint: false, storeBytesMax: ledgerBytesMax });
    const { ledger, site, clock } = images;
    const checkpoint = await newestCheckpoint(stack.dataDir, images);
    // The request went on without it, and may be in it.
    if (elapsedMs() > withinMs) return;
    const point: Point = { ledger, site, clock, checkpoint, changes: [] };
    points = [...points.filter(({ changes }) => changes.length > 0), point].slice(-pointsMax);
    // Packed while the request is worked on.
    void Promise.all([pack(ledger, { level: 1 }), site && pack(site, { level: 1 })]).then(([one, other]) => {
      point.ledger = one;
      point.site = other;
    });
  }

  return {
    /** Before a request that may change something; resolves when the state before it is kept. Of several under way at once, the first has it kept for all. */
    async before(method: string, path: string): Promise<void> {
      if (isLook(method, path)) return;
      underWay += 1;
      if (underWay === 1 && !FOLLOWS.test(path))
        // A stack that cannot be saved has nothing to go back to, and works all the same.
        taking = within(
          takeMaxMs,
          take(takeMaxMs).catch(() => {
            points = [];
          }),
        );
      await taking;
    },
    after(method: string, path: string, answer: Response | undefined): void {
      if (isLook(method, path)) return;
      underWay -= 1;
      // Asked for its headers only where they are needed: it takes longer to send from then on.
      if (answer && answer.status < 400) points.at(-1)?.changes.push(changeOf(answer, at(), method, path));
    },
    /** Keeps the present state, before it is replaced by another. */
    async beforeReplacing(path: string): Promise<void> {
      await take(Number.POSITIVE_INFINITY).catch(() => undefined);
      points.at(-1)?.changes.push({ id: null, at: at(), method: 'POST', path, status: 200 });
    },
    /** The state before the latest change, and all that came since; undefined when nothing was changed. */
    async last(): Promise<(Images & Pick<Point, 'checkpoint' | 'changes'>) | undefined> {
      const index = points.findLastIndex(({ changes }) => changes.length > 0);
      const point = points[index];
      if (!point) return undefined;
      const { clock, checkpoint, changes } = point;
      return {
        ledger: await plain(point.ledger),
        site: point.site && (await plain(point.site)),
        clock,
        checkpoint,
        changes,
      };
    },
    /** The latest change is undone. */
    drop(): void {
      const index = points.findLastIndex(({ changes }) => changes.length > 0);
      points = points.slice(0, Math.max(index, 0));
    },
    parts: ({ ledger, site, checkpoint }: Images & Pick<Point, 'checkpoint'>): Map<string, Buffer> => {
      const parts = new Map([[LEDGER, ledger]]);
      if (site) parts.set(SITE_STORE, site);
      if (checkpoint) parts.set(checkpoint.name, checkpoint.bytes);
      return parts;
    },
  };
}

const changeOf = ({ status, headers }: Response, at: string, method: string, path: string): Change => ({
  id: headers.get('x-request-id'),
  ...{ at, method, path, status },
});

const isLook = (method: string, path: string) =>
  ['GET', 'HEAD', 'OPTIONS'].includes(method) || CHANGES_NOTHING.test(path);

const GZIP = 0x1f;
/** A point that was just taken is not packed yet. */
const plain = async (bytes: Buffer): Promise<Buffer> => (bytes[0] === GZIP ? unpack(bytes) : bytes);
