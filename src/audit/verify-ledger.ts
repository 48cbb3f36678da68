/**
 * Compares the ledger with the chain and with itself, as of the newest block that the ledger has read. Reads in
 * pages, writes nothing, and may run while the service does: what moves meanwhile is not taken for a difference.
 */

import { recentBlocks } from '../ledger/transactions/followed-blocks.ts';
import type { Audit, VerifyDeps } from './audit.ts';
import { verifyClaims } from './claims.ts';
import { verifyFunds } from './funds.ts';
import { verifyLanes } from './lanes.ts';
import { verifyPayouts } from './payouts.ts';
import { createFindings, type Findings, type VerifyReport } from './report.ts';
import { verifyRewards } from './rewards.ts';

/** How often the comparison waits for a reorganisation to end. */
const TRIES = 5;
const TRY_AGAIN_MS = 500;

/** `differencesMax`: the search ends at this many differences. */
export async function verifyLedger(
  deps: VerifyDeps,
  options: { differencesMax?: number; signal?: AbortSignal } = {},
): Promise<VerifyReport> {
  for (let tries = 1; ; tries++) {
    const cut = await commonBlock(deps);
    const findings = createFindings(options.differencesMax ?? 50);
    if ('number' in cut) {
      await compare(deps, { block: cut.number, findings, signal: options.signal });
    } else if (cut.ledgerBlock !== undefined) {
      const { ledgerBlock, expected, found } = cut;
      const message = `block ${ledgerBlock} of the ledger is not on the chain`;
      findings.add('other_chain', { message, about: { block: ledgerBlock }, expected, found });
    }
    // Blocks that were taken back meanwhile cause false differences.
    const stands = 'number' in cut && (await deps.chain.block(cut.number))?.hash === cut.hash;
    const { differences, checked } = findings;
    if (stands || tries >= TRIES || (!('number' in cut) && cut.ledgerBlock === undefined)) {
      return {
        ok: differences.length === 0,
        differences,
        complete: !findings.isFull() && options.signal?.aborted !== true,
        block: 'number' in cut ? cut.number : null,
        checked,
      };
    }
    await deps.sleep(TRY_AGAIN_MS);
  }
}

async function compare(
  deps: VerifyDeps,
  of: { block: number; findings: Findings; signal: AbortSignal | undefined },
): Promise<void> {
  const { block, findings, signal } = of;
  const audit: Audit = {
    ...deps,
    block,
    findings,
    sums: { redeemed: new Map(), paid: new Map(), unreleased: new Map() },
    supply: { minted: 0n, sold: 0n },
    stopped: () => findings.isFull() || signal?.aborted === true,
  };
  for (const part of [verifyPayouts, verifyRewards, verifyFunds, verifyClaims, verifyLanes]) {
    if (!audit.stopped()) await part(audit);
  }
}

type Cut =
  | { number: number; hash: string }
  | { ledgerBlock: number | undefined; expected?: string; found?: string | undefined };

/** The newest block that the ledger has read, when the chain still has it. */
async function commonBlock({ database, chain }: VerifyDeps): Promise<Cut> {
  const [newest] = await recentBlocks(database.db, 1);
  if (!newest) return { ledgerBlock: undefined };
  const onChain = await chain.block(newest.number);
  if (onChain?.hash === newest.hash) return { number: newest.number, hash: newest.hash };
  return { ledgerBlock: newest.number, expected: newest.hash, found: onChain?.hash };
}
