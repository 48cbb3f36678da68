/** Asks each dependency whether it works (contract: GET health, GET diagnostic). */
import type { ChainClient } from '../chain/rpc/client.ts';
import type { Database } from '../ledger/database/database.ts';
import { ledgerWrites } from '../ledger/facts.ts';
import type { Clock } from '../lib/clock.ts';
import { answersWithin } from '../lib/timers.ts';

export interface Health {
  healthy: boolean;
  services: { database: string; blockchain: string; idp: string };
}

/** A dependency that takes longer than this to answer counts as unavailable. */
const ANSWER_WITHIN_MS = 2_000;

export async function reportHealth(deps: {
  database: Database;
  clock: Pick<Clock, 'now'>;
  chain: Pick<ChainClient, 'block'>;
  /** Whether tokens can be verified; absent where users cannot log in. */
  identityReady: (() => Promise<boolean>) | undefined;
}): Promise<Health> {
  const answers = (ask: () => Promise<unknown>) => answersWithin(ANSWER_WITHIN_MS, ask);
  const [database, blockchain, idp] = await Promise.all([
    // Reading would go on while the disk is full and every event fails.
    answers(() => ledgerWrites(deps.database.db, deps.clock.now())),
    answers(() => deps.chain.block('latest')),
    deps.identityReady ? answers(deps.identityReady) : undefined,
  ]);
  const word = (works: boolean) => (works ? 'connected' : 'disconnected');
  return {
    healthy: database && blockchain && idp !== false,
    services: {
      database: word(database),
      blockchain: word(blockchain),
      idp: idp === undefined ? 'none' : word(idp),
    },
  };
}
