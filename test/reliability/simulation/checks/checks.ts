/** Judges a finished run by the chain and by the ledger's rows, without any of the service's own code but the batch's format. */
import type { Hex } from 'viem';
import { decodePayoutBatch } from '../../../../src/chain/contracts/payout-batch.ts';
import { PAYOUT_LANE, PERK } from '../model/accounts.ts';
import type { ModelBlock } from '../model/model-chain.ts';
import { isForeign, slotOf } from '../model/model-chain.ts';
import { LEASE_MS } from '../replica.ts';
import type { World } from '../world.ts';
import { checkAnswers } from './check-answers.ts';
import { checkConsumers } from './check-consumers.ts';
import { checkLimits } from './check-limits.ts';
import { checkMints } from './check-mints.ts';
import { checkNonces } from './check-nonces.ts';
import { checkLostNumbers } from './check-recovery.ts';
import { checkRedemptions } from './check-redemptions.ts';
import { checkRelays } from './check-relays.ts';

export interface RewardRow {
  sequence: number;
  id: string;
  brand_id: string;
  event_type: string;
  user_key: string;
  wallet: string;
  amount: number;
  metadata: string;
  /** When it was granted, by the clock of the database. */
  granted_at: number;
  created_at: number;
  transaction_id: string | null;
  failure: string | null;
  released_at: number | null;
}
export interface AttemptRow {
  hash: string;
  transaction_id: string;
  attempt: number;
  lane: Hex;
  raw: Hex;
  max_fee_wei: string;
  priority_fee_wei: string;
  nonce: number;
}

export type Recovered = Record<'rewards' | 'relays' | 'redemptions', ReadonlySet<string>>;

export interface Evidence {
  rewards: RewardRow[];
  attempts: AttemptRow[];
  /** Blocks as far as the service has read them. */
  blocks: ModelBlock[];
  /** Rows that a recovery wrote: nobody asked for them in a way that the ledger still knows. */
  recovered: Recovered;
}

const SKIPPED: Record<number, string> = {
  2: 'zero_address',
  3: 'forbidden_recipient',
  4: 'zero_amount',
  5: 'insufficient_brand_balance',
};

export const sequencesIn = (data: Hex) => decodePayoutBatch(data).map(({ sequence }) => Number(sequence));

export async function checkRun(world: World, ended: boolean): Promise<void> {
  const { rows } = world.ledger;
  const [read] = await rows<{ number: number | null }>('select max(number) as number from followed_blocks');
  const evidence: Evidence = {
    rewards: await rows<RewardRow>(
      'select r.*, g.at_ms as granted_at from rewards r join sim_grants g on g.sequence = r.sequence order by r.sequence',
    ),
    attempts: await rows<AttemptRow>(
      `select a.*, t.lane, t.nonce from attempts a join transactions t on t.id = a.transaction_id
       order by t.lane, t.nonce, a.attempt`,
    ),
    blocks: world.chain.canonical().filter(({ number }) => number <= (read?.number ?? 0)),
    recovered: await readRecovered(world),
  };
  checkPayments(world, evidence, ended);
  await checkNonces(world, evidence);
  checkAnswers(world, evidence);
  await checkLostNumbers(world, evidence);
  await checkLeases(world);
  await checkLimits(world, evidence);
  await checkRelays(world, evidence, ended);
  await checkMints(world, evidence, ended);
  await checkRedemptions(world, evidence, ended);
  if (ended) await checkMoney(world, evidence);
  if (ended) await checkConsumers(world, evidence);
}

async function readRecovered({ ledger }: World): Promise<Recovered> {
  const rows = await ledger.rows<{ kind: string; row_id: string }>('select kind, row_id from recovered_rows');
  const of = (kind: string) => new Set(rows.flatMap((row) => (row.kind === kind ? row.row_id : [])));
  return { rewards: of('reward'), relays: of('relay'), redemptions: of('redemption') };
}

function checkPayments({ findings, sent }: World, { rewards, blocks }: Evidence, ended: boolean): void {
  const paid = new Map<number, number>();
  const known = new Map(rewards.map((reward) => [reward.sequence, reward]));
  const skips = new Map<number, string[]>();
  const reverted = new Map<number, number>();
  for (const block of blocks) {
    for (const { sequence, brandId, to, amount } of block.payments) {
      const times = (paid.get(sequence) ?? 0) + 1;
      paid.set(sequence, times);
      if (times > 1) findings.add('no sequence paid twice', `sequence ${sequence} is paid ${times} times`);
      const reward = known.get(sequence);
      const same =
        reward?.brand_id === brandId && reward.wallet.toLowerCase() === to && reward.amount === amount;
      if (!same) findings.add('no payout without a reward', `sequence ${sequence} has no such reward`);
    }
    for (const { sequence, reason } of block.skips) {
      if (reason === 1) findings.add('one nonce a reward', `sequence ${sequence} was to be paid again`);
      skips.set(sequence, [...(skips.get(sequence) ?? []), SKIPPED[reason] ?? 'already paid']);
    }
    for (const [place, entry] of block.entries.entries()) {
      if (!('transaction' in entry) || entry.transaction.from !== PAYOUT_LANE) continue;
      const { data } = entry.transaction;
      const meant = isForeign(entry.transaction) ? sent.get(slotOf(entry.transaction))?.[0]?.data : data;
      if (!meant || (meant === data && block.receipts[place]?.succeeded !== false)) continue;
      for (const sequence of sequencesIn(meant)) reverted.set(sequence, (reverted.get(sequence) ?? 0) + 1);
    }
  }
  for (const { sequence, failure } of rewards) {
    const isPaid = paid.has(sequence);
    if (failure === null) {
      if (!isPaid && ended) findings.add('no reward without its payout', `sequence ${sequence} is not paid`);
      continue;
    }
    if (isPaid) findings.add('no failed reward paid', `sequence ${sequence} failed (${failure}) and is paid`);
    const caused =
      failure === 'reverted' ? (reverted.get(sequence) ?? 0) >= 3 : skips.get(sequence)?.includes(failure);
    if (!caused && ended) findings.add('no failure without a cause', `sequence ${sequence}: ${failure}`);
  }
}

interface LeaseRow {
  address: string;
  owner: string;
  at_ms: number;
  until_ms: number;
}

/** A recovery gives its leases up when it is done; a service never does. */
async function checkLeases({ findings, ledger }: World): Promise<void> {
  const last = new Map<string, LeaseRow>();
  const rows = await ledger.rows<LeaseRow>('select * from sim_leases order by rowid');
  for (const lease of rows) {
    const before = last.get(lease.address);
    last.set(lease.address, lease);
    const heldMs = before?.owner.startsWith('rewards recover') ? before.until_ms - before.at_ms : LEASE_MS;
    if (!before || before.owner === lease.owner || lease.at_ms - before.at_ms >= heldMs) continue;
    const afterMs = lease.at_ms - before.at_ms;
    findings.add(
      'a lease holds for its time',
      `${lease.owner} took it from ${before.owner} after ${afterMs} ms`,
    );
  }
}

async function checkMoney({ findings, chain, ledger }: World, { rewards, blocks }: Evidence): Promise<void> {
  const head = blocks.at(-1) ?? chain.head;
  const funds = await ledger.rows<{ brand_id: Hex; deposited: number; promised: number }>(
    'select * from brand_funds',
  );
  for (const { brand_id, deposited, promised } of funds) {
    let [moved, paid, owed] = [0, 0, 0];
    for (const { entries, payments, redemptions } of blocks) {
      if (brand_id === PERK.brandId) moved += redemptions.filter(({ isNew }) => isNew).length * PERK.cost;
      for (const entry of entries) {
        if (
          !('move' in entry) ||
          'wallet' in entry.move ||
          entry.move.brandId !== brand_id ||
          entry.move.kind === 'forgery'
        )
          continue;
        moved += entry.move.kind === 'deposit' ? entry.move.amount : -entry.move.amount;
      }
      for (const { brandId, amount } of payments) if (brandId === brand_id) paid += amount;
    }
    for (const reward of rewards)
      if (reward.brand_id === brand_id && reward.released_at === null) owed += reward.amount;
    const balance = head.state.balances.get(brand_id) ?? 0;
    if (deposited !== moved)
      findings.add('brand money is conserved', `deposited ${deposited}, on chain ${moved}`);
    if (promised !== owed) findings.add('brand money is conserved', `promised ${promised}, rewards ${owed}`);
    if (deposited - promised !== balance || balance !== moved - paid)
      findings.add('brand money is conserved', `available ${deposited - promised}, on chain ${balance}`);
  }
}
