/** Tells how the relay stands: how far users and addresses have used their limits, whose gas is spent, and what lanes carry. */
import { type BusinessTime, type Database, readTime } from '../../ledger/database/database.ts';
import type { RateLimit } from '../../ledger/limits/rate-windows.ts';
import { busiestWindows } from '../../ledger/limits/window-expiries.ts';
import { budgetDay, DAY_MS, payersOfDay } from '../../ledger/relay/gas-budgets.ts';
import type { GasPayer } from '../../ledger/schema/relay.ts';
import type { LanePurpose } from '../../ledger/schema/transactions.ts';
import { busiestLanes } from '../../ledger/transactions/backlog.ts';
import { addressKey } from '../../rules/user-key.ts';
import { showWallet } from '../wallets/show-wallet.ts';

export interface RelayStateDeps {
  database: Database;
  /** What windows and budgets are measured by; leases go by the database's own clock. */
  businessTime: BusinessTime;
  ownDomain: string;
  limits: {
    userLimit: RateLimit;
    addressLimit: RateLimit;
    /** Of a payer without a budget of its own. */
    budgetGwei: number;
    /** The part of a budget that one user may spend. */
    userShare: number;
  };
}

interface WindowUse {
  subject: string;
  used: number;
  resetAtMs: number;
}

/** A list that may end before all are named. */
interface Some<T> {
  total: number;
  shown: T[];
}

interface RelayState {
  users: Some<WindowUse>;
  addresses: Some<WindowUse>;
  payers: Some<{
    payer: GasPayer;
    address: string;
    ready: boolean;
    budgetGwei: number;
    spentGwei: number;
    userMaxGwei: number;
  }>;
  budgetsResetAtMs: number;
  lanes: Some<{
    address: string;
    purpose: LanePurpose;
    nextNonce: number | null;
    underWay: number;
    notFinal: number;
    owner: string;
    epoch: number;
    /** Null: it has run out, and the next process may take it. */
    leaseUntilMs: number | null;
  }>;
}

/** Each list has the busiest `limit`; `user` is an e-mail, an address or `<platform>:<id>`. */
export async function readRelayState(
  deps: RelayStateDeps,
  { limit, user }: { limit: number; user: string | undefined },
): Promise<RelayState | { refusal: { code: 'wallet_not_found'; user: string } }> {
  const { database, limits } = deps;
  const { db } = database;
  const subject = user === undefined ? undefined : await addressOf(deps, user);
  if (user !== undefined && subject === undefined) return { refusal: { code: 'wallet_not_found', user } };
  const nowMs = await readTime({ db, now: deps.businessTime() });
  const leaseNowMs = await readTime({ db, now: database.now });
  const day = budgetDay(nowMs);
  const windowsOf = async (rate: RateLimit, one?: string) =>
    some(
      await busiestWindows(db, { ...rate, subject: one, nowMs, limit }),
      ({ subject: name, used, startedAt }) => ({
        subject: name,
        used,
        resetAtMs: startedAt + rate.windowMs,
      }),
    );
  return {
    users: await windowsOf(limits.userLimit, subject),
    addresses: await windowsOf(limits.addressLimit),
    payers: some(await payersOfDay(db, { day, limit }), ({ profile, payer, address, ready, spentGwei }) => {
      const budgetGwei = profile?.gasBudget ? Math.floor(profile.gasBudget * 1e9) : limits.budgetGwei;
      const userMaxGwei = Math.floor(budgetGwei * limits.userShare);
      return { payer, address, ready, spentGwei, budgetGwei, userMaxGwei };
    }),
    budgetsResetAtMs: (day + 1) * DAY_MS,
    lanes: some(await busiestLanes(db, limit), ({ lastNonce, leaseUntil, total: _, ...lane }) => ({
      ...lane,
      nextNonce: lastNonce === null ? null : lastNonce + 1,
      leaseUntilMs: leaseUntil > leaseNowMs ? leaseUntil : null,
    })),
  };
}

/** An address may be of a wallet that the user brought, which the ledger need not know. */
const addressOf = async (deps: RelayStateDeps, user: string) =>
  addressKey(user) ?? (await showWallet(deps, user))?.wallet.address.toLowerCase();

const some = <Row extends { total: number }, T>(rows: Row[], shown: (row: Row) => T): Some<T> => ({
  total: rows[0]?.total ?? 0,
  shown: rows.map(shown),
});
