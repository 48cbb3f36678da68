/**
 * Compares the ledger with the chain and with itself, as of the newest block that the ledger has read. Reads one
 * snapshot of the ledger in pages, writes nothing, and may run while the service does.
 */
import { countedByBoards } from '../ledger/consumers/positions.ts';
import type { Queries } from '../ledger/database/database.ts';
import { recentBlocks } from '../ledger/transactions/followed-blocks.ts';
import type { Since } from '../rules/since.ts';
import { verifyAheadOfLedger } from './ahead-of-ledger.ts';
import {
  type Audit,
  isWhole,
  notCompared,
  sinceBlock,
  type VerifyDeps,
  type VerifyProgress,
} from './audit.ts';
import { verifyClaims, verifyOnceClaims } from './claims.ts';
import { verifyAchievements, verifyMilestones } from './engagement/achievements.ts';
import { verifyLeaderboards } from './engagement/leaderboards.ts';
import { verifyPerks } from './engagement/perks.ts';
import { verifyFunds } from './funds.ts';
import { verifyLanes } from './lanes.ts';
import { verifyMints } from './mints.ts';
import { verifyPayouts } from './payouts.ts';
import { verifyRedemptions } from './redemptions.ts';
import { createFindings, type Findings, type VerifyReport } from './report.ts';
import { verifyRewards } from './rewards.ts';

/** How often the comparison waits for a reorganisation to end. */
const TRIES = 5;
const TRY_AGAIN_MS = 500;
const DIFFERENCES_MAX = 50;

export interface VerifyOptions {
  /** The search ends at this many differences. Default: 50. */
  differencesMax?: number;
  /** Compares a part: from this block on, or from the first block at this time. */
  since?: Since | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: VerifyProgress) => void) | undefined;
}

export async function verifyLedger(deps: VerifyDeps, options: VerifyOptions = {}): Promise<VerifyReport> {
  const isAborted = () => options.signal?.aborted === true;
  for (let tries = 1; ; tries++) {
    const findings = createFindings(options.differencesMax ?? DIFFERENCES_MAX);
    const compared = await deps.database.snapshot((db) => compareOnce({ ...deps, db }, findings, options));
    if (!compared.stands && tries < TRIES && !isAborted()) {
      await deps.sleep(TRY_AGAIN_MS);
      continue;
    }
    const { block, since, left } = compared;
    const behind = block === null || isAborted() ? null : await verifyAheadOfLedger(deps, findings, block);
    const { differences, flagged, checked } = findings;
    return {
      ok: differences.length === 0,
      differences,
      flagged,
      complete: !findings.isFull() && !isAborted(),
      block,
      behind,
      since,
      notCompared: left,
      checked,
    };
  }
}

interface Compared {
  block: number | null;
  /** The first block of a part; null when everything was compared. */
  since: number | null;
  /** What a part leaves out. */
  left: string[];
  /** False when blocks were taken back meanwhile, which causes false differences. */
  stands: boolean;
}

async function compareOnce(
  deps: VerifyDeps & { db: Queries },
  findings: Findings,
  options: VerifyOptions,
): Promise<Compared> {
  const cut = await commonBlock(deps);
  if ('number' in cut) {
    const { number: block, hash } = cut;
    const since = await sinceBlock(deps, { since: options.since, newest: block });
    const boards = await countedByBoards(deps.db);
    const audit = auditOf(deps, { block, since, findings, options, boards });
    for (const part of [
      ...[verifyPayouts, verifyMints, verifyRedemptions, verifyRewards],
      ...[verifyFunds, verifyClaims, verifyOnceClaims, verifyLeaderboards, verifyMilestones],
      ...[verifyAchievements, verifyPerks, verifyLanes],
    ]) {
      if (!audit.stopped()) await part(audit);
    }
    const stands = (await deps.chain.block(block))?.hash === hash;
    const part = isWhole(audit) ? { since: null, left: [] } : { since, left: notCompared(audit) };
    return { block, ...part, stands };
  }
  const { ledgerBlock, expected, found } = cut;
  if (ledgerBlock !== undefined) {
    const message = `block ${ledgerBlock} of the ledger is not on the chain`;
    findings.add('other_chain', { message, about: { block: ledgerBlock }, expected, found });
  }
  return { block: null, since: null, left: [], stands: ledgerBlock === undefined };
}

function auditOf(
  deps: VerifyDeps & { db: Queries },
  of: {
    block: number;
    since: number;
    findings: Findings;
    options: VerifyOptions;
    boards: Audit['boards'];
  },
): Audit {
  const { block, since, findings, options, boards } = of;
  return {
    ...deps,
    block,
    since,
    findings,
    sums: { paid: new Map(), unreleased: new Map(), moved: new Map() },
    counted: new Map(),
    onBoards: new Map(),
    boards,
    supply: { minted: 0n, sold: 0n, recorded: 0n, unexplained: undefined },
    seen: {
      inclusions: new Map(),
      sales: new Set(),
      redemptions: new Set(),
      perksSold: new Map(),
      lowestSequence: undefined,
    },
    progress: options.onProgress ?? (() => {}),
    stopped: () => findings.isFull() || options.signal?.aborted === true,
  };
}

type Cut =
  | { number: number; hash: string }
  | { ledgerBlock: number | undefined; expected?: string; found?: string | undefined };

/** The newest block that the ledger has read, when the chain still has it. */
async function commonBlock({ db, chain }: Pick<VerifyDeps, 'chain'> & { db: Queries }): Promise<Cut> {
  const [newest] = await recentBlocks(db, 1);
  if (!newest) return { ledgerBlock: undefined };
  const onChain = await chain.block(newest.number);
  if (onChain?.hash === newest.hash) return { number: newest.number, hash: newest.hash };
  return { ledgerBlock: newest.number, expected: newest.hash, found: onChain?.hash };
}
