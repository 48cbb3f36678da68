/** How the relay stands, as the ledger has it: the busiest first, of many, on every database. */
import { expect, test } from 'vitest';
import { readRelayState } from '../../src/actions/relay/read-relay-state.ts';
import { atMs } from '../../src/ledger/database/database.ts';
import { takeFromWindows } from '../../src/ledger/limits/rate-windows.ts';
import { budgetDay, takeGas } from '../../src/ledger/relay/gas-budgets.ts';
import { ensureGasWallet } from '../../src/ledger/relay/gas-wallets.ts';
import { leaseLane } from '../../src/ledger/transactions/lanes.ts';
import { freshAddress, onEveryDatabase } from '../kits/databases/databases.ts';

const NOW_MS = Date.UTC(2031, 4, 1, 12);
const limits = {
  userLimit: { scope: 'relay user', limit: 35, windowMs: 3_600_000 },
  addressLimit: { scope: 'relay address', limit: 100, windowMs: 60_000 },
  budgetGwei: 1_000,
  userShare: 0.05,
};

onEveryDatabase(({ kit }) => {
  const database = () => kit().database;
  const read = async (more: { limit?: number; user?: string; atMs?: number } = {}) => {
    const deps = {
      database: database(),
      businessTime: () => atMs(more.atMs ?? NOW_MS),
      ownDomain: 'x.example',
    };
    const state = await readRelayState({ ...deps, limits }, { limit: more.limit ?? 20, user: more.user });
    if ('refusal' in state) throw new Error(state.refusal.code);
    return state;
  };
  const use = (subject: string, times: number) =>
    database().atomically((tx) =>
      takeFromWindows(tx, { ...limits.userLimit, now: atMs(NOW_MS) }, Array(times).fill(subject)),
    );

  test('of 10,000 users with a window those who used it most come first, and all are counted', async () => {
    const many = Array.from({ length: 10_000 }, () => freshAddress());
    await database().atomically((tx) =>
      takeFromWindows(tx, { ...limits.userLimit, now: atMs(NOW_MS) }, many),
    );
    const busiest = freshAddress();
    await use(busiest, 35);
    const { users } = await read({ limit: 3 });
    expect(users.shown).toHaveLength(3);
    expect(users.total).toBeGreaterThanOrEqual(10_001);
    expect(users.shown[0]).toEqual({ subject: busiest, used: 35, resetAtMs: NOW_MS + 3_600_000 });
    expect((await read({ user: many[7] ?? '' })).users.shown).toEqual([
      { subject: many[7], used: 1, resetAtMs: NOW_MS + 3_600_000 },
    ]);
    expect((await read({ atMs: NOW_MS + 3_600_000 })).users).toEqual({ total: 0, shown: [] });
  });

  test('a user whom the ledger does not know is refused by name', async () => {
    await expect(read({ user: 'nobody@mail.example' })).rejects.toThrow('wallet_not_found');
  });

  test('payers have what is left of their day, lanes who holds them', async () => {
    const payer = freshAddress();
    const address = freshAddress();
    const day = budgetDay(NOW_MS);
    await database().atomically((tx) =>
      ensureGasWallet(tx, { payer, addressAt: () => address, nowMs: NOW_MS }),
    );
    await database().atomically((tx) => takeGas(tx, { payer, day, gwei: 400, limitGwei: 1_000 }));
    const lane = { address, purpose: 'relay', owner: 'process-1' } as const;
    await leaseLane(database().db, { ...lane, now: database().now, forMs: 60_000 });
    const state = await read();
    expect(state.payers.shown).toContainEqual(
      expect.objectContaining({ payer, address, budgetGwei: 1_000, spentGwei: 400, userMaxGwei: 50 }),
    );
    expect(state.budgetsResetAtMs).toBe(Date.UTC(2031, 4, 2));
    const held = state.lanes.shown.find((one) => one.address === address);
    expect(held).toMatchObject({ purpose: 'relay', underWay: 0, notFinal: 0, nextNonce: null, epoch: 1 });
    expect(held?.leaseUntilMs).toEqual(expect.any(Number));
    const next = (await read({ atMs: Date.UTC(2031, 4, 2) })).payers.shown.find((one) => one.payer === payer);
    expect(next).toMatchObject({ spentGwei: 0 });
  });
});
