/**
 * A ledger that loses its last commits: it goes back to a copy, while the chain keeps everything. What it is allowed to
 * lose for good: requests that were answered in what is lost and had not reached the chain or a pool; idempotency keys, so
 * that who asks again is somebody new; which event, session or request a recovered row was for; codes that were shown.
 */
import type { Hex } from 'viem';
import { permitFor } from './callers/relay-callers.ts';
import { recoverLedger } from './recovering.ts';
import type { LedgerCopy } from './sim-ledger.ts';
import type { World } from './world.ts';

/** What the ledger no longer has, as far as somebody may hold it to that. */
export interface LostRows {
  /** Attempts of which no block, no pool and no row is left: they never come back. */
  hashes: ReadonlySet<string>;
  rewards: {
    id: string;
    sequence: number;
    brand_id: string;
    event_type: string;
    wallet: string;
    amount: number;
  }[];
  /** Derived wallets, by their places in the key tree. */
  wallets: ReadonlyMap<number, { userKey: string; address: string }>;
  /** A recovery has found something since: from then on, none of these numbers is given out again. */
  isRecovered: boolean;
}

export const noLoss = (): LostRows => ({
  hashes: new Set(),
  rewards: [],
  wallets: new Map(),
  isRecovered: false,
});

/** Takes the copy, or goes back to it and recovers, when it is time for that. */
export function createLoss(world: World) {
  const { loss } = world.plan;
  let copy: LedgerCopy | undefined;
  return {
    async before(step: number): Promise<void> {
      if (step === loss?.fromStep) copy = await world.ledger.copy();
    },
    async after(step: number): Promise<void> {
      if (step !== loss?.atStep || !copy || world.findings.list.length > 0) return;
      world.struck('ledger lost');
      await loseLedger(world, copy);
      await recoverLedger(world);
      await believeWallets(world);
    },
  };
}

async function loseLedger(world: World, copy: LedgerCopy): Promise<void> {
  const { chain, ledger, replicas, node } = world;
  const lost = await ledger.copy();
  // Nobody works on a ledger while another is put in its place.
  for (const replica of replicas) replica.die();
  await ledger.restore(copy);
  world.note(`the ledger loses what it committed in the last ${lost.atMs - copy.atMs} ms`);
  const hashesIn = ({ tables }: LedgerCopy) => (tables.get('attempts') ?? []).map(({ hash }) => hash as Hex);
  const kept = new Set<Hex>(hashesIn(copy));
  for (const { entries } of chain.canonical())
    for (const entry of entries) if ('transaction' in entry) kept.add(entry.transaction.hash);
  for (const { hash } of chain.waiting()) kept.add(hash);
  // What nobody can see, a recovery cannot know: nodes have dropped it for good.
  chain.forgetAllBut(kept);
  node.forgetAllBut(kept);
  for (const [slot, sent] of world.sent) {
    const left = sent.filter(({ hash }) => kept.has(hash));
    if (left.length > 0) world.sent.set(slot, left);
    else world.sent.delete(slot);
  }
  world.claims.clear();
  world.readPayouts = undefined;
  world.lost = {
    ...lostRows(lost, copy),
    hashes: new Set(hashesIn(lost).filter((hash) => !kept.has(hash))),
    isRecovered: false,
  };
  forgetRequests(world, { lost, copy });
}

function lostRows(lost: LedgerCopy, copy: LedgerCopy): Pick<LostRows, 'rewards' | 'wallets'> {
  const without = <Row>(table: string, nameOf: (row: Row) => unknown): Row[] => {
    const left = new Set(((copy.tables.get(table) ?? []) as Row[]).map(nameOf));
    return ((lost.tables.get(table) ?? []) as Row[]).filter((row) => !left.has(nameOf(row)));
  };
  const wallets = without<{ derivation_index: number | null; user_key: string; address: string }>(
    'wallets',
    ({ user_key, address }) => `${user_key} ${address}`,
  );
  return {
    rewards: without<LostRows['rewards'][number]>('rewards', ({ id }) => id),
    wallets: new Map(
      wallets.flatMap(({ derivation_index: index, user_key: userKey, address }) =>
        index === null ? [] : [[index, { userKey, address }] as const],
      ),
    ),
  };
}

/** What callers were told of rows that are gone is only as good as the chain. */
function forgetRequests(world: World, { lost, copy }: { lost: LedgerCopy; copy: LedgerCopy }): void {
  // The answer that a key keeps is made anew.
  for (const request of world.requests) delete request.body;
  type Row = { id: string; failure: string | null };
  const rowsIn = ({ tables }: LedgerCopy) =>
    new Map(((tables.get('redemptions') ?? []) as unknown as Row[]).map((row) => [row.id, row]));
  const [before, now] = [rowsIn(lost), rowsIn(copy)];
  for (const request of world.redemptionRequests) {
    const { ids, number } = request;
    const left = ids.flatMap((id) => now.get(id) ?? []);
    // It was refused by a row that waits again.
    if (request.status === 'refused' && left.some(({ failure }) => failure === null))
      request.status = 'unknown';
    if (left.length > 0 || !ids.some((id) => before.has(id))) continue;
    // Its key is lost with it: who asks again has another id.
    ids.push(`redemption-${number}-${ids.length}`);
    delete request.told;
  }
}

/** A user's wallet signs no call again that the chain has, or is about to have: each has a nonce of its own. */
async function believeWallets({ ledger, relayRequests }: World): Promise<void> {
  const rows = await ledger.rows<{ data: string }>(
    `select lower(data) as data from relays
     where id in (select row_id from recovered_rows where kind = 'relay')`,
  );
  const recovered = new Set(rows.map(({ data }) => data));
  for (const request of relayRequests)
    if (recovered.has(request.data) || recovered.has(permitFor(request.data))) request.key = undefined;
}
