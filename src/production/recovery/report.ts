/** What a recovery did or would do, and what cannot be known any more. */
import type { RecoveredRow, Recovery } from '../../ledger/recovery/recoveries.ts';
import type { RecoveredKind } from '../../ledger/schema/recoveries.ts';
import type { LostWork, PendingUnknown } from './context.ts';

type Detail = RecoveredRow['detail'];

export interface RecoveryReport {
  /** nothing: the ledger lacks nothing · planned: nothing was changed · applied: it was done. */
  state: 'nothing' | 'planned' | 'applied';
  id: string | null;
  /** The newest block that both sides agree on; null for a ledger that had read none. */
  agreedBlock: number | null;
  headBlock: number;
  /** Transactions that were taken into the ledger, by what they carry. */
  transactions: Record<string, number>;
  /** Other offers of transactions that the ledger has: each may be the one that comes into a block. */
  attempts: Detail[];
  /** Who was paid or debited by what was recovered, by address. */
  users: (Detail & { address: string; rewards: number; rwt: number })[];
  /** `event` null: it is not known which event a reward was for; `mayBe` has those that pay this amount. */
  rewards: Detail[];
  mints: Detail[];
  /** Each has a new code; the one that its user was shown is lost. */
  redemptions: Detail[];
  perks: Detail[];
  perkTerms: Detail[];
  relays: Detail[];
  topUps: Detail[];
  /** Promises of the ledger that the chain contradicts: what waits again, and rewards that have another sequence now. */
  released: Detail[];
  /** Nonces that were used by transactions of a form that the ledger cannot keep. */
  unreadable: Detail[];
  /** Brands that were paid from and that the ledger does not have. */
  unknownBrands: string[];
  /** Gas wallets of brands that were lost: their addresses are not given out again. */
  lostGasWallets: string[];
  /** Nonces that nodes count as waiting and do not show; nothing is sent before a block has them. */
  pendingUnknown: PendingUnknown[];
  /** Where the ledger goes on: nothing below was handed out by this ledger from now on. */
  goesOnWith: LostWork['unused'] | null;
  /** Recoveries of this ledger, the latest first. */
  recoveries: Recovered[];
}

interface Recovered {
  id: string;
  startedAt: string;
  finishedAt: string | null;
  agreedBlock: number | null;
  headBlock: number;
  /** Rows that it wrote, by kind. */
  rows: Partial<Record<RecoveredKind, number>>;
}

export function reportOf(of: {
  state: RecoveryReport['state'];
  id: string | null;
  work: LostWork;
  rows: readonly RecoveredRow[];
  knownBrands: ReadonlySet<string>;
  recoveries: Recovered[];
}): RecoveryReport {
  const { state, id, work, rows, knownBrands, recoveries } = of;
  const details = (kind: RecoveredKind): Detail[] =>
    rows.filter((row) => row.kind === kind).map(({ detail }) => detail);
  const transactions: Record<string, number> = {};
  for (const kind of ['transaction', 'attempt'] as const)
    for (const { carries } of details(kind))
      transactions[String(carries)] = (transactions[String(carries)] ?? 0) + 1;
  const rewards = details('reward').sort((a, b) => Number(a.sequence) - Number(b.sequence));
  const brands = new Set(
    [...rewards, ...details('redemption'), ...details('perk')].map(({ brandId }) => String(brandId)),
  );
  return {
    state,
    id,
    agreedBlock: work.agreedBlock,
    headBlock: work.headBlock,
    transactions,
    attempts: details('attempt'),
    users: usersIn(rows, rewards),
    rewards,
    mints: details('mint'),
    redemptions: details('redemption'),
    perks: details('perk'),
    perkTerms: details('perk_terms'),
    relays: details('relay'),
    topUps: details('top_up'),
    released: details('released'),
    unreadable: details('unreadable'),
    unknownBrands: [...brands].filter((brandId) => !knownBrands.has(brandId)),
    lostGasWallets: work.gasWallets,
    pendingUnknown: work.pendingUnknown,
    goesOnWith: state === 'nothing' ? null : work.unused,
    recoveries,
  };
}

function usersIn(rows: readonly RecoveredRow[], rewards: Detail[]): RecoveryReport['users'] {
  return rows.flatMap(({ kind, rowId, detail }) => {
    if (kind !== 'user') return [];
    const own = rewards.filter(({ wallet }) => wallet === rowId);
    const rwt = own.reduce((sum, { amount }) => sum + Number(amount), 0);
    return { address: rowId, ...detail, rewards: own.length, rwt };
  });
}

export const recoveredOf = (recovery: Recovery, rows: readonly RecoveredRow[]): Recovered => {
  const counts: Recovered['rows'] = {};
  for (const { kind } of rows) counts[kind] = (counts[kind] ?? 0) + 1;
  const { id, startedAt, finishedAt, agreedBlock, headBlock } = recovery;
  return {
    id,
    startedAt: new Date(startedAt).toISOString(),
    finishedAt: finishedAt === null ? null : new Date(finishedAt).toISOString(),
    agreedBlock,
    headBlock,
    rows: counts,
  };
};
