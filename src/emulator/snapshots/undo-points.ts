/** Where a stack can go back to: its state before each of the latest requests that changed something. */
import { controlEndpoints } from '../../contract/control/endpoints.ts';
import type { Clock } from '../../lib/clock.ts';
import { stopwatch, within } from '../../lib/timers.ts';
import { snapshotSettings } from '../limits.ts';
import { LEDGER, SITE_STORE } from '../state/data-files.ts';
import { type Checkpoint, type Images, newestCheckpoint, type Running, takeImages } from './take-snapshot.ts';

/** What SQLite writes at once; another page size would only make differences larger. */
const PAGE_BYTES = 4_096;

interface Difference {
  /** Of the whole image. */
  bytes: number;
  /** Pages that the other image does not have like that, by their place. */
  pages: Map<number, Buffer>;
}

/** What `image` has in place of `other`'s pages. */
export function differenceFrom(other: Buffer, image: Buffer): Difference {
  const pages = new Map<number, Buffer>();
  for (let at = 0; at < image.length; at += PAGE_BYTES) {
    const end = Math.min(at + PAGE_BYTES, image.length);
    const isSame = end <= other.length && image.compare(other, at, end, at, end) === 0;
    // A copy, since a part of the image would keep all of it in memory.
    if (!isSame) pages.set(at, Buffer.from(image.subarray(at, end)));
  }
  return { bytes: image.length, pages };
}

/** The image that differs like that from `other`. */
export function withDifference(other: Buffer, { bytes, pages }: Difference): Buffer {
  const image = Buffer.alloc(bytes);
  other.copy(image, 0, 0, Math.min(bytes, other.length));
  for (const [at, page] of pages) page.copy(image, at);
  return image;
}

/** A request that changed something. */
interface Change {
  /** The X-Request-Id of its answer; null for requests that have none, such as those of the control API. */
  id: string | null;
  at: string;
  method: string;
  path: string;
  status: number;
}

interface Point extends Pick<Images, 'clock' | 'end'> {
  /** The newest point's are whole; those of others differ from the next one's. */
  ledger: Buffer | Difference;
  site: Buffer | Difference;
  checkpoint: Checkpoint | undefined;
  /** What came since, up to the next point. */
  changes: Change[];
}

export type UndoPoints = ReturnType<typeof createUndoPoints>;

/** Calls of the control API that say of themselves that they change nothing to take back. */
const PASSES = controlEndpoints
  .filter(({ parts }) => parts.undo === 'passes')
  .map(({ method, path }) => ({
    method: method.toUpperCase(),
    path: new RegExp(`^/_rewards${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));
/** Belongs to another change: the stack itself sends it. */
const FOLLOWS = /\/payment-mint$/;

/** The latest points, of which the newest is whole; at most one, the newest, has no changes. */
function createPoints(most: number) {
  let points: Point[] = [];

  /** The one before becomes the newest. */
  function dropNewest(): void {
    const [newest, before] = [points.at(-1), points.at(-2)];
    if (newest && before) {
      before.ledger = wholeOf(before.ledger, newest.ledger);
      before.site = wholeOf(before.site, newest.site);
    }
    points = points.slice(0, -1);
  }
  /** A request that was refused leaves a point after which nothing was changed; the next one takes its place. */
  const isUnchanged = (point: Point | undefined) => point?.changes.length === 0;

  return {
    newest: () => points.at(-1),
    add(point: Point & { ledger: Buffer; site: Buffer }): void {
      if (isUnchanged(points.at(-1))) dropNewest();
      const before = points.at(-1);
      if (before) {
        before.ledger = differenceFrom(point.ledger, wholeOf(before.ledger));
        before.site = differenceFrom(point.site, wholeOf(before.site));
      }
      points = [...points, point].slice(-most);
    },
    /** The newest one that was changed, whole. */
    changed(): (Point & { ledger: Buffer; site: Buffer; drop: () => void }) | undefined {
      const newest = points.at(-1);
      const point = isUnchanged(newest) ? points.at(-2) : newest;
      if (!point) return undefined;
      return {
        ...point,
        ledger: wholeOf(point.ledger, newest?.ledger),
        site: wholeOf(point.site, newest?.site),
        drop() {
          while (points.includes(point)) dropNewest();
        },
      };
    },
    clear() {
      points = [];
    },
  };
}

export function createUndoPoints(running: () => Running | undefined, machine: Pick<Clock, 'now'>) {
  const { pointsMax, takeMaxMs, ledgerBytesMax } = snapshotSettings.undo;
  const points = createPoints(pointsMax);
  let underWay = 0;
  let taking: Promise<void> | undefined;
  let takes = 0;

  const at = () => new Date(machine.now()).toISOString();

  async function take(withinMs: number): Promise<void> {
    const stack = running();
    if (!stack) return;
    const elapsedMs = stopwatch();
    const { site, ...images } = await takeImages(stack, {
      checkpoint: false,
      storeBytesMax: ledgerBytesMax,
    });
    const checkpoint = await newestCheckpoint(stack.dataDir, images, points.newest()?.checkpoint);
    // The request went on without it, and may be in it.
    if (elapsedMs() > withinMs) return;
    points.add({ ...images, site: site ?? NO_STORE, checkpoint, changes: [] });
  }

  return {
    /** Before a request that may change something; resolves when the state before it is kept. Of several under way at once, the first has it kept for all. */
    async before(method: string, path: string): Promise<void> {
      if (isLook(method, path)) return;
      underWay += 1;
      if (underWay === 1 && !FOLLOWS.test(path)) {
        takes += 1;
        const number = takes;
        // A stack that cannot be saved has nothing to go back to, and works all the same. One that failed late says nothing
        // of what was kept since.
        const taken = take(takeMaxMs).catch(() => {
          if (number === takes) points.clear();
        });
        taking = within(takeMaxMs, taken);
      }
      await taking;
    },
    after(method: string, path: string, answer: Response | undefined): void {
      if (isLook(method, path)) return;
      underWay -= 1;
      // Asked for its headers only where they are needed: it takes longer to send from then on.
      if (answer && answer.status < 400) points.newest()?.changes.push(changeOf(answer, at(), method, path));
    },
    /** Keeps the present state, before it is replaced by another; what it returns is called when it is. */
    async beforeReplacing(path: string): Promise<() => void> {
      takes += 1;
      await take(Number.POSITIVE_INFINITY).catch(() => undefined);
      const point = points.newest();
      return () => point?.changes.push({ id: null, at: at(), method: 'POST', path, status: 200 });
    },
    /**
     * The state before the latest change, and all that came since; undefined when nothing was changed. `undone` is called when
     * that state is back.
     */
    last(): (Images & Pick<Point, 'checkpoint' | 'changes'> & { undone: () => void }) | undefined {
      const point = points.changed();
      return (
        point && { ...point, site: point.site === NO_STORE ? undefined : point.site, undone: point.drop }
      );
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
  at,
  method,
  path,
  status,
});

const isLook = (method: string, path: string) =>
  ['GET', 'HEAD', 'OPTIONS'].includes(method) ||
  PASSES.some((passes) => passes.method === method && passes.path.test(path));

/** In place of a store that the stack does not have. */
const NO_STORE = Buffer.alloc(0);

/** `newer`: what an image that is not whole differs from. */
function wholeOf(image: Buffer | Difference, newer?: Buffer | Difference): Buffer {
  if (Buffer.isBuffer(image)) return image;
  if (!Buffer.isBuffer(newer)) throw new Error('the newest point has to be whole');
  return image.bytes === 0 ? NO_STORE : withDifference(newer, image);
}
