/**
 * The loop of all consumers: each has a position in the feed of booked and taken-back facts, and its own commits. Processes
 * on one ledger take turns: the position's row is locked in each commit.
 */
import type { Alarms } from '../../chain/alarms.ts';
import { feedHead } from '../../ledger/consumers/feed.ts';
import { beginAt, readPositions } from '../../ledger/consumers/positions.ts';
import type { SetAside } from '../../ledger/consumers/set-aside.ts';
import type { Database } from '../../ledger/database/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Crash } from '../../lib/crash-points.ts';
import type { Log } from '../../lib/log.ts';
import { createLoop } from '../../lib/loop.ts';
import { delay, stopwatch, turnOfEventLoop } from '../../lib/timers.ts';
import type { Consumer, ConsumerTools } from './consumer.ts';
import { consumers as all } from './consumers.ts';
import { type DigestDeps, digestNext, isPassing } from './digest.ts';
import { asideNow, trySetAside } from './try-set-aside.ts';

interface ConsumersDeps extends ConsumerTools {
  database: Database;
  realClock: Clock;
  log: Log;
  crash: Crash;
  alarms: Pick<Alarms, 'raise' | 'clear' | 'list'>;
  /** Messages to brands are in the ledger and due. */
  onQueued: () => void;
  settings: ConsumersSettings;
  /** Default: every one there is. */
  consumers?: readonly Consumer[];
}

export interface ConsumersSettings {
  /** How often the ledger is asked for blocks that another process has booked. */
  idlePollMs: number;
  /** Between two commits of one backlog: requests come first. */
  pauseMs: number;
  /** How long whoever reads waits for consumers at most. */
  readWaitMs: number;
}

export interface Consumers {
  /** Something was booked or taken back. */
  nudge(): void;
  /**
   * Resolves when everything that is in the feed now has had its effect, after some time, or at once where the ledger does not
   * answer: what is read next says so itself.
   */
  caughtUp(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

/** Commits without a pause; a usual block has no more, and who reads a board after it should not wait. */
const AT_ONCE = 3;
const LOOK_ASIDE_EVERY_MS = 5_000;
const WAIT_STEP_MS = 5;

export function createConsumers(deps: ConsumersDeps): Consumers {
  const { database, log, settings, consumers = all } = deps;
  const digest = digestDeps(deps);
  let areBegun = false;
  let isStopped = false;
  let asideSinceMs: (() => number) | undefined;
  const lookAside = async () => {
    if (asideSinceMs && asideSinceMs() < LOOK_ASIDE_EVERY_MS) return;
    await trySetAside(digest, consumers);
    await keepAlarms(deps);
    asideSinceMs = stopwatch();
  };
  const loop = createLoop({
    name: 'consumers',
    async turn(signal) {
      if (!areBegun) await begin(deps, consumers);
      areBegun = true;
      for (let commits = 1; !signal.aborted && (await oneCommit(digest, consumers)); commits++)
        await (commits > AT_ONCE ? delay(settings.pauseMs, signal) : turnOfEventLoop());
      await lookAside();
      return 'idle';
    },
    pauseMs: () => settings.idlePollMs,
    log,
  });
  return {
    nudge: loop.nudge,
    async caughtUp() {
      try {
        const head = await feedHead(database.db);
        const waitedMs = stopwatch();
        while (await isBehind(database, { consumers, head })) {
          if (isStopped || waitedMs() >= settings.readWaitMs) return;
          loop.nudge();
          await delay(WAIT_STEP_MS);
        }
      } catch (error) {
        if (!isPassing(error)) throw error;
      }
    },
    start: loop.start,
    stop() {
      isStopped = true;
      return loop.stop();
    },
  };
}

/** One commit for the consumers that are farthest behind; false when all have read everything. */
export async function oneCommit(deps: DigestDeps, consumers: readonly Consumer[]): Promise<boolean> {
  const positions = await readPositions(deps.database.db);
  const head = await feedHead(deps.database.db);
  const at = Math.min(...consumers.map(({ name }) => positions.get(name) ?? head));
  if (at >= head) return false;
  const behind = consumers.filter(({ name }) => positions.get(name) === at);
  await digestNext(deps, behind, { at, head });
  return true;
}

async function isBehind(
  { db }: Database,
  { consumers, head }: { consumers: readonly Consumer[]; head: number },
): Promise<boolean> {
  if (head === 0) return false;
  const positions = await readPositions(db);
  return consumers.some(({ name }) => (positions.get(name) ?? 0) < head);
}

/** Gives those their positions that this ledger has not seen before. */
export async function begin(
  { database }: Pick<ConsumersDeps, 'database'>,
  consumers: readonly Consumer[],
): Promise<void> {
  const known = await readPositions(database.db);
  for (const { name, begins } of consumers) {
    if (known.has(name)) continue;
    const position = begins === 'now' ? await feedHead(database.db) : 0;
    await beginAt(database.db, { consumer: name, position });
  }
}

const REMEDY =
  'They are tried again by themselves, within an hour; everybody else goes on. Correct what the cause names, or ask for a version that does.';

function digestDeps(deps: ConsumersDeps): DigestDeps {
  const { log, alarms } = deps;
  return {
    ...deps,
    realNow: deps.realClock.now,
    onSetAside({ consumer, brandId, upToPosition, error, tries }: SetAside) {
      // What waits behind it has no cause of its own.
      if (tries === 0) return;
      const about = `${consumer} ${brandId}`;
      log.error({ consumer, brandId, position: upToPosition, error, fix: REMEDY }, 'facts are set aside');
      alarms.raise('facts_set_aside', about, { error });
    },
  };
}

/** The alarms of what waits, whichever process set it aside. */
async function keepAlarms({ database, alarms }: Pick<ConsumersDeps, 'database' | 'alarms'>) {
  const waiting = await asideNow({ database });
  for (const about of waiting) {
    const isRaised = alarms.list().some((one) => one.code === 'facts_set_aside' && one.about === about);
    if (!isRaised) alarms.raise('facts_set_aside', about);
  }
  for (const { code, about } of alarms.list())
    if (code === 'facts_set_aside' && !waiting.has(about)) alarms.clear('facts_set_aside', about);
}
