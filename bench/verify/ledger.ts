/** Writes the past of `history.ts` into a ledger, as the service would have left it. */
import { type Hex, keccak256 } from 'viem';
import { saveBrand, saveEventRule } from '../../src/ledger/brands/brands.ts';
import type { Database } from '../../src/ledger/database/database.ts';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { writeFact } from '../../src/ledger/facts.ts';
import {
  AMOUNT,
  blockHash,
  brandIds,
  brandOf,
  CHAIN_ID,
  contracts,
  DEPLOYMENT_BLOCK,
  DEPOSIT,
  depositHash,
  type History,
  payoutLane,
  walletOf,
} from './history.ts';

const EVENT = 'form_submit';
const ROWS_PER_STATEMENT = 2_000;

const quoted = (value: string | number | null | boolean) =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
type Row = Record<string, string | number | null | boolean>;

/** An insert of many rows as text: all values are our own, and a million of them are to be written in a minute. */
function insert(table: string, rows: Row[]): string {
  const names = Object.keys(rows[0] ?? {});
  const values = rows.map((row) => `(${names.map((name) => quoted(row[name] ?? null)).join(',')})`);
  return rows.length === 0 ? '' : `insert into ${table} (${names.join(', ')}) values ${values.join(',')};`;
}

/** @returns the hash of each batch's transaction. */
export async function writeHistory(database: Database, history: History): Promise<Hex[]> {
  await migrate(database);
  await writeBrands(database, history);
  const hashes: Hex[] = [];
  for (let place = 0; place < history.batches; place++)
    hashes.push(await writeBatch(database, history, place));
  for (let from = 0; from < history.rewards; from += ROWS_PER_STATEMENT) {
    const rows = sequencesFrom(from, history.rewards).map(counterRow);
    await database.script(insert('claim_counters', rows));
  }
  const head = history.headBlock;
  const followed = Array.from({ length: 70 }, (_, back) => head - back).filter((block) => block > 0);
  await database.script(
    insert(
      'followed_blocks',
      followed.map((number) => ({ number, hash: blockHash(number) })),
    ) + insert('counters', [{ name: 'reward_sequence', next: history.rewards }]),
  );
  await writeFact(database.db, 'chain', {
    chainId: CHAIN_ID,
    genesisHash: blockHash(0),
    deploymentBlock: DEPLOYMENT_BLOCK,
    contracts,
  });
  return hashes;
}

const sequencesFrom = (from: number, below: number) =>
  Array.from({ length: Math.min(ROWS_PER_STATEMENT, below - from) }, (_, place) => from + place);
const userKeyOf = (sequence: number) => `email:person-${sequence}@people.example`;

async function writeBrands(database: Database, history: History): Promise<void> {
  for (const [place, brandId] of brandIds.entries()) {
    const domain = `shop-${place}.example`;
    await saveBrand(database.db, {
      brandId,
      name: domain,
      automation: true,
      profile: { domains: [domain], platforms: {}, clientBypass: 'credential', mintTo: 'escrow' },
      verificationSecret: 'secret',
      createdAt: 0,
    });
    await saveEventRule(database.db, {
      brandId,
      eventType: EVENT,
      position: 0,
      active: true,
      rewardAmount: AMOUNT,
      maxClaims: -1,
      maxTotalClaims: -1,
      cooldownMs: 0,
      detail: { eventId: EVENT, isCustom: false, detectionMethod: 'form', detectionConfig: {} },
    });
    const claims = Number(history.paidUpTo(place, history.headBlock));
    await database.script(
      insert('claim_totals', [{ brand_id: brandId, event_type: EVENT, claims }]) +
        `update brand_funds set deposited = ${DEPOSIT}, promised = ${claims * AMOUNT} where brand_id = '${brandId}';` +
        insert('movements', [
          {
            id: `deposit-${place}`,
            kind: 'deposit',
            brand_id: brandId,
            amount: Number(DEPOSIT),
            transaction_hash: depositHash(place),
            log_index: place * 4 + 2,
            block_number: history.depositBlock,
            created_at: 0,
          },
        ]) +
        insert('operator_mints', [
          {
            key: depositHash(place),
            kind: 'sale',
            recipient: brandId,
            amount: Number(DEPOSIT),
            reason: 'opening deposit',
            created_at: 0,
          },
        ]),
    );
  }
}

async function writeBatch(database: Database, history: History, place: number): Promise<Hex> {
  const raw = await history.sign(place);
  const hash = keccak256(raw);
  const id = `transaction-${place}`;
  const block = history.blockOf(place);
  const at = history.timestampSeconds(block) * 1_000;
  const rewards = history.entries(place).map(({ sequence }) => ({
    sequence: Number(sequence),
    id: `reward-${sequence}`,
    brand_id: brandOf(Number(sequence)),
    event_type: EVENT,
    user_key: userKeyOf(Number(sequence)),
    user_email: null,
    wallet: walletOf(Number(sequence)),
    wallet_created: true,
    amount: AMOUNT,
    metadata: '{}',
    created_at: at,
    transaction_id: id,
    failed_tries: 0,
    failure: null,
    released_at: null,
  }));
  await database.script(
    insert('transactions', [
      {
        id,
        lane: payoutLane,
        nonce: place,
        purpose: 'payout',
        status: 'final',
        epoch: 1,
        hash,
        block_number: block,
        block_hash: blockHash(block),
        outcome: 'done',
        created_at: at,
        gas_used: 8_000_000,
        gas_price_wei: '2000000000',
      },
    ]) +
      insert('attempts', [
        {
          hash,
          transaction_id: id,
          attempt: 0,
          kind: 'payload',
          raw,
          created_at: at,
          max_fee_wei: '3000000000',
          priority_fee_wei: '1000000000',
        },
      ]) +
      insert('rewards', rewards),
  );
  return hash;
}

function counterRow(sequence: number): Row {
  return {
    brand_id: brandOf(sequence),
    event_type: EVENT,
    user_key: userKeyOf(sequence),
    claims: 1,
    last_at: 0,
    last_reward_id: `reward-${sequence}`,
    last_amount: AMOUNT,
    terms_max_claims: -1,
    terms_last_before: 0,
  };
}
