/** Where a stack can go back to: its state before each of the latest requests that changed something. */
import { settings } from '../../compose/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { stopwatch, within } from '../../lib/timers.ts';
import { LEDGER, SITE_STORE } from '../state/data-files.ts';
import { type Difference, differenceFrom, withDifference } from './image-difference.ts';
import { type Checkpoint, type Images, newestCheckpoint, type Running, takeImages } from './take-snapshot.ts';

/** A request that changed something. */
export interface Change {
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
    const { site, ...images } = await takeImages(stack, {
      checkpoint: false,
      storeBytesMax: ledgerBytesMax,
    });
    const checkpoint = await newestCheckpoint(stack.dataDir, images, points.at(-1)?.checkpoint);
    // The request went on without it, and may be in it.
    if (elapsedMs() > withinMs) return;
    if (isUnchanged(points.at(-1))) dropNewest();
    const newest = points.at(-1);
    const point = { ...images, site: site ?? NO_STORE, checkpoint, changes: [] };
    if (newest) {
      newest.ledger = differenceFrom(point.ledger, wholeOf(newest.ledger));
      newest.site = differenceFrom(point.site, wholeOf(newest.site));
    }
    points = [...points, point].slice(-pointsMax);
  }

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
    last(): (Images & Pick<Point, 'checkpoint' | 'changes'>) | undefined {
      const newest = points.at(-1);
      const point = isUnchanged(newest) ? points.at(-2) : newest;
      if (!point) return undefined;
      const site = wholeOf(point.site, newest?.site);
      return {
        ...point,
        ledger: wholeOf(point.ledger, newest?.ledger),
        site: site === NO_STORE ? undefined : site,
      };
    },
    /** The latest change is undone. */
    drop(): void {
      if (isUnchanged(points.at(-1))) dropNewest();
      dropNewest();
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

/** In place of a store that the stack does not have. */
const NO_STORE = Buffer.alloc(0);

/** `newer`: what an image that is not whole differs from. */
function wholeOf(image: Buffer | Difference, newer?: Buffer | Difference): Buffer {
  if (Buffer.isBuffer(image)) return image;
  if (!Buffer.isBuffer(newer)) throw new Error('the newest point has to be whole');
  return image.bytes === 0 ? NO_STORE : withDifference(newer, image);
}
