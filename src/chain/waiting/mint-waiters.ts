/** Lets requests wait for a mint of a session or of an operator. */
import type { Database } from '../../ledger/database/database.ts';
import {
  isMinted,
  type MintProgress,
  type OperatorMintProgress,
  readMints,
  readOperatorMints,
} from '../../ledger/payments/mints.ts';
import type { Hex } from '../../lib/hex.ts';
import type { Log } from '../../lib/log.ts';
import { createLedgerLooks, createWaiters } from './waiters.ts';

/** How far a mint has come, whatever it is for. */
type Progress = Pick<MintProgress, 'status' | 'outcome' | 'failure'>;

export interface MintWaiters {
  /** Blocks were read that may hold mints, or a mint was given up. */
  look(): void;
  /**
   * Resolves when a block shows the mint of this session or it was given up (`failure`), or with how far it has come
   * when `timeoutMs` of real time have passed; undefined: no such mint is planned. Any number of callers may wait for one.
   */
  waitFor(wait: { sessionId: string; timeoutMs: number }): Promise<MintProgress | undefined>;
  /** The same for an operator's mint, by its key. */
  waitForOperator(wait: { key: Hex; timeoutMs: number }): Promise<OperatorMintProgress | undefined>;
  isAwaited(): boolean;
  stop(): void;
}

const isOver = (progress: Progress) => progress.failure !== null || isMinted(progress);

/** One per process. */
export function createMintWaiters(deps: { database: Database; log: Log; pollMs: number }): MintWaiters {
  const { db } = deps.database;
  const ofSessions = createWaiters<string, MintProgress>(
    (ids) => readMints(db, ids),
    ({ mint }) => mint.sessionId,
    isOver,
  );
  const ofOperators = createWaiters<Hex, OperatorMintProgress>(
    (keys) => readOperatorMints(db, keys),
    ({ key }) => key,
    isOver,
  );
  const isAwaited = () => ofSessions.isAwaited() || ofOperators.isAwaited();
  const looks = createLedgerLooks({
    what: 'waiting mints',
    async ask() {
      await ofSessions.look();
      await ofOperators.look();
    },
    isAwaited,
    pollMs: deps.pollMs,
    log: deps.log,
  });
  return {
    look: looks.look,
    waitFor: ({ sessionId, timeoutMs }) => ofSessions.waitFor(sessionId, timeoutMs),
    waitForOperator: ({ key, timeoutMs }) => ofOperators.waitFor(key, timeoutMs),
    isAwaited,
    stop: looks.stop,
  };
}
