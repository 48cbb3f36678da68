/** Each kind of difference is planted in ledger or chain, and must be found and named. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { createWalletClient, type Hex, http, keccak256, toHex } from 'viem';
import { foundry } from 'viem/chains';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { VerifyReport } from '../../src/audit/report.ts';
import { businessEscrowAbi, pointsSaleAbi, rewardTokenAbi } from '../../src/chain/contracts/abis.ts';
import { roleId } from '../../src/chain/contracts/deployment-steps.ts';
import { encodePayoutBatch } from '../../src/chain/contracts/payout-batch.ts';
import { receiptOf } from '../kits/chain/chain.ts';
import { devAccount } from '../kits/chain/dev-accounts.ts';
import { until } from '../kits/service/clock.ts';
import { someone, startTestService, type TestService } from '../kits/service/service.ts';

const account = (addressIndex: number) => devAccount({ addressIndex });
const [admin, payout, mint] = [0, 1, 2].map(account);

let service: TestService;
let ledger: SQLite.Database;
const undo: (() => void)[] = [];

beforeAll(async () => {
  service = await startTestService();
  for (let times = 0; times < 5; times++) {
    const { status } = await service.event({ userEmail: someone(), eventType: 'form_submit' });
    expect(status).toBe(200);
  }
  ledger = new SQLite(join(service.ready.dataDir, 'ledger.sqlite'));
});
afterAll(async () => {
  ledger.close();
  await service.stop();
});
afterEach(() => {
  for (const back of undo.splice(0).reverse()) back();
});

async function verify(): Promise<VerifyReport> {
  const { status, body } = await service.request(`${service.ready.urls.control}/verify`);
  expect(status).toBe(200);
  return body;
}
const kindsFound = async () => [...new Set((await verify()).differences.map(({ kind }) => kind))].sort();

/** Changes the ledger behind the service's back; taken back after the test. */
function plant(statement: string, back: string) {
  ledger.exec(statement);
  undo.push(() => ledger.exec(back));
}
const first = <Row>(query: string) => ledger.prepare(query).get() as Row;
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** Changes a column of one row. */
function plantValue(table: string, where: string, column: string, value: string) {
  const row = first<Record<string, string | number | null>>(`select ${column} from ${table} where ${where}`);
  const before = row[column] ?? null;
  const literal =
    before === null ? 'null' : typeof before === 'number' ? String(before) : quoted(String(before));
  plant(
    `update ${table} set ${column} = ${value} where ${where}`,
    `update ${table} set ${column} = ${literal} where ${where}`,
  );
}

/** A row taken away; brought back after the test. */
function plantLoss(table: string, where: string) {
  const row = first<Record<string, string | number | null>>(`select * from ${table} where ${where}`);
  ledger.exec(`pragma foreign_keys = off; delete from ${table} where ${where}`);
  undo.push(() => {
    const names = Object.keys(row);
    ledger
      .prepare(`insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`)
      .run(...Object.values(row));
  });
}

test('a part says from which block it compared, and what it left out', async () => {
  const { number } = first<{ number: number }>('select max(number) as number from followed_blocks');
  const ask = (since: string) => service.request(`${service.ready.urls.control}/verify?since=${since}`);
  const { body: part } = await ask(String(number));
  expect(part).toMatchObject({ ok: true, complete: true, since: number, differences: [] });
  expect(part.checked.payouts).toBeLessThan(5);
  expect(part.notCompared).toContain(`payouts, deposits and withdrawals before block ${number}`);
  expect(part.notCompared).toContain("the token's supply");
  const { body: none } = await ask('2100-01-01T00:00:00Z');
  expect(none).toMatchObject({ ok: true, checked: { payouts: 0, rewards: 0 } });
  const { body: whole } = await ask('0');
  expect(whole).toMatchObject({ ok: true, since: null, notCompared: [], checked: { payouts: 5 } });
  const refused = await ask('yesterday');
  expect(refused).toMatchObject({ status: 400, body: { error: 'Invalid since' } });
});

test('a ledger and a chain that agree have no differences, and everything was looked at', async () => {
  const report = await verify();
  expect(report).toMatchObject({ ok: true, differences: [], complete: true });
  expect(report.checked.rewards).toBe(5);
  expect(report.checked.payouts).toBe(5);
  expect(report.checked.transactions).toBeGreaterThan(0);
  expect(report.checked.brands).toBeGreaterThan(0);
  expect(report.checked.counters).toBe(5);
});

describe('planted in the ledger:', () => {
  test('a payout whose reward is gone', async () => {
    plantLoss('rewards', 'sequence = 2');
    const { differences } = await verify();
    expect(differences.find(({ kind }) => kind === 'payout_without_reward')).toMatchObject({
      about: { sequence: 2 },
      message: 'sequence 2 was paid on chain, but no reward has it',
    });
  });

  test('another amount, another wallet', async () => {
    plantValue('rewards', 'sequence = 1', 'amount', 'amount + 1');
    plantValue('rewards', 'sequence = 3', 'wallet', quoted(`0x${'12'.repeat(20)}`));
    const { differences } = await verify();
    const differs = differences.filter(({ kind }) => kind === 'payout_differs');
    expect(differs.map(({ about }) => about.sequence)).toEqual([1, 3]);
    expect(differs[1]?.expected).toContain(`0x${'12'.repeat(20)}`);
  });

  test('a reward bound to a transaction that did not pay it, or to none that exists', async () => {
    const other = first<{ id: string }>(
      'select id from transactions where id <> (select transaction_id from rewards where sequence = 0)',
    );
    plantValue('rewards', 'sequence = 0', 'transaction_id', quoted(other.id));
    plantValue('rewards', 'sequence = 4', 'transaction_id', quoted('nowhere'));
    const kinds = await kindsFound();
    expect(kinds).toContain('payout_by_other_transaction');
    expect(kinds).toContain('unknown_transaction');
    expect(kinds).toContain('unbooked_payout');
  });

  test('a reward that counts as paid and is not', async () => {
    const { id } = first<{ id: string }>('select transaction_id as id from rewards where sequence = 0');
    const columns =
      'id, brand_id, event_type, user_key, user_email, wallet, wallet_created, amount, metadata, created_at, transaction_id, failed_tries, failure, released_at';
    plant(
      `insert into rewards (sequence, ${columns}) select 300, ${columns.replace('id,', `${quoted('planted')},`)}
       from rewards where transaction_id = ${quoted(id)} limit 1`,
      'delete from rewards where sequence = 300',
    );
    const kinds = await kindsFound();
    expect(kinds).toContain('missing_payout');
    expect(kinds).toContain('brand_promised');
    expect(kinds).toContain('claim_counter');
    expect(kinds).toContain('escrow_balance');
  });

  test('counters and totals that count otherwise', async () => {
    plantValue('claim_counters', 'rowid = 1', 'claims', 'claims + 1');
    expect(await kindsFound()).toEqual(['claim_counter', 'claim_total']);
    for (const back of undo.splice(0).reverse()) back();
    plantValue('claim_totals', 'rowid = 1', 'claims', 'claims - 1');
    expect(await kindsFound()).toEqual(['claim_total']);
    for (const back of undo.splice(0).reverse()) back();
    plantLoss('claim_counters', 'rowid = 1');
    expect(await kindsFound()).toEqual(['claim_total', 'reward_without_counter']);
  });

  test.each([
    [
      'a score',
      'leaderboard_scores',
      'rwt_earned',
      'rwt_earned + 1',
      ['leaderboard_ranks', 'leaderboard_score'],
    ],
    ['a counter of ranks', 'leaderboard_ranks', 'users', 'users + 1', ['leaderboard_ranks']],
  ])('%s of a leaderboard that was changed', async (_, table, column, value, kinds) => {
    plantValue(table, 'rowid = 1', column, value);
    expect(await kindsFound()).toEqual(kinds);
  });

  test('a user who was taken off the leaderboards', async () => {
    const [board] = ledger.prepare("select id from leaderboards where period = 'all'").all() as {
      id: number;
    }[];
    const { key } = first<{ key: string }>(
      `select user_key as key from leaderboard_scores where board_id = ${board?.id}`,
    );
    plantLoss('leaderboard_scores', `board_id = ${board?.id} and user_key = ${quoted(key)}`);
    expect(await kindsFound()).toEqual(['leaderboard_ranks', 'leaderboard_rewards']);
  });

  test("a brand's account that promises or has deposited otherwise", async () => {
    plantValue('brand_funds', 'promised > 0', 'promised', 'promised + 7');
    const { differences } = await verify();
    expect(differences.map(({ kind }) => kind)).toEqual(['brand_promised']);
    expect(Number(differences[0]?.found) - Number(differences[0]?.expected)).toBe(7);
    for (const back of undo.splice(0).reverse()) back();
    plantValue('brand_funds', 'promised > 0', 'deposited', 'deposited + 1');
    expect(await kindsFound()).toEqual(['brand_deposited']);
  });

  test('a movement that is lost, invented, or of another amount', async () => {
    plantLoss('movements', 'rowid = 1');
    expect(await kindsFound()).toEqual(['brand_deposited', 'escrow_balance', 'movement_unbooked']);
    for (const back of undo.splice(0).reverse()) back();
    plantValue('movements', 'rowid = 1', 'log_index', '999');
    expect(await kindsFound()).toEqual(['movement_unbooked', 'movement_without_log']);
    for (const back of undo.splice(0).reverse()) back();
    plantValue('movements', 'rowid = 1', 'amount', 'amount - 1');
    expect(await kindsFound()).toEqual(['brand_deposited', 'escrow_balance', 'movement_unbooked']);
  });

  test('a transaction that is lost', async () => {
    plantLoss('transactions', "purpose = 'payout' and nonce = 1");
    const kinds = await kindsFound();
    expect(kinds).toContain('nonce_gap');
    expect(kinds).toContain('unknown_payout_transaction');
    expect(kinds).toContain('unknown_transaction');
  });

  test('bytes, hashes and blocks that are not what the row says', async () => {
    const { raw } = first<{ raw: string }>('select raw from attempts where rowid = 1');
    plantValue('attempts', 'rowid = 2', 'raw', quoted(raw));
    expect(await kindsFound()).toContain('attempt_bytes');
    for (const back of undo.splice(0).reverse()) back();
    plantValue('transactions', "purpose = 'payout' and nonce = 2", 'hash', quoted(`0x${'ab'.repeat(32)}`));
    expect(await kindsFound()).toEqual(['inclusion', 'unknown_hash']);
    for (const back of undo.splice(0).reverse()) back();
    plantValue(
      'transactions',
      "purpose = 'payout' and nonce = 2",
      'block_hash',
      quoted(`0x${'cd'.repeat(32)}`),
    );
    expect(await kindsFound()).toEqual(['inclusion']);
  });

  test('a transaction that counts as lost and is in a block', async () => {
    plantValue('transactions', "purpose = 'payout' and nonce = 2", 'outcome', quoted('noop'));
    const { status } = first<{ status: string }>(
      "select status from transactions where purpose = 'payout' and nonce = 2",
    );
    plant(
      "update transactions set status = 'final' where purpose = 'payout' and nonce = 2",
      `update transactions set status = ${quoted(status)} where purpose = 'payout' and nonce = 2`,
    );
    const { block } = first<{ block: number }>(
      "select block_number as block from transactions where purpose = 'payout' and nonce = 2",
    );
    plant(
      "update transactions set block_number = null where purpose = 'payout' and nonce = 2",
      `update transactions set block_number = ${block} where purpose = 'payout' and nonce = 2`,
    );
    const { differences } = await verify();
    expect(differences.map(({ kind }) => kind)).toContain('inclusion');
    expect(differences.map(({ kind }) => kind)).not.toContain('account_nonce');
  });

  test('two payloads under one nonce', async () => {
    const { id } = first<{ id: string }>(
      "select id from transactions where purpose = 'payout' and nonce = 3",
    );
    const raw = await (payout ?? admin)?.signTransaction({
      type: 'eip1559',
      chainId: service.ready.chain.id,
      nonce: 3,
      to: `0x${'34'.repeat(20)}`,
      data: '0x1234',
      gas: 100_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 1n,
    });
    const hash = keccak256(raw ?? '0x');
    plant(
      `insert into attempts (hash, transaction_id, attempt, kind, raw, max_fee_wei, priority_fee_wei, created_at) values (${quoted(hash)}, ${quoted(id)}, 1, 'payload', ${quoted(raw ?? '')}, '1', '1', 0)`,
      `delete from attempts where hash = ${quoted(hash)}`,
    );
    expect(await kindsFound()).toEqual(['attempt_payload']);
  });

  test('an old copy: the chain has paid, and used nonces, beyond what the ledger gave out', async () => {
    const { next } = first<{ next: number }>("select next from counters where name = 'reward_sequence'");
    expect(next).toBeGreaterThan(3);
    plantValue('counters', "name = 'reward_sequence'", 'next', '3');
    const last = first<{ lane: string; nonce: number }>(
      "select lane, max(nonce) as nonce from transactions where purpose = 'payout'",
    );
    plantLoss('transactions', `lane = ${quoted(last.lane)} and nonce = ${last.nonce}`);
    const behind = (await verify()).differences.filter(({ kind }) => kind === 'ledger_behind');
    expect(behind).toMatchObject([
      { about: { sequence: 3 }, found: '3', expected: 'sequences below 3' },
      { about: { lane: last.lane }, found: String(last.nonce + 1), expected: String(last.nonce) },
    ]);
  });

  test('blocks of another chain', async () => {
    const { number } = first<{ number: number }>('select max(number) as number from followed_blocks');
    plantValue('followed_blocks', `number = ${number}`, 'hash', quoted(`0x${'ef'.repeat(32)}`));
    const kinds = await kindsFound();
    // The follower reads the block again by itself; until then, the difference stands.
    expect([['other_chain'], []]).toContainEqual(kinds);
  });

  test('the search ends at its limit and says so', async () => {
    for (const sequence of [0, 1, 2]) plantValue('rewards', `sequence = ${sequence}`, 'amount', 'amount + 1');
    const { body } = await service.request(`${service.ready.urls.control}/verify?limit=2`);
    expect(body).toMatchObject({ ok: false, complete: false });
    expect(body.differences).toHaveLength(2);
  });
});

describe('planted on the chain:', () => {
  const wallet = () => createWalletClient({ chain: foundry, transport: http(service.ready.urls.rpc) });
  const contract = (name: 'token' | 'escrow' | 'pointsSale') => service.ready.contracts[name] as Hex;
  const brand = () => service.brand.brandId as Hex;
  async function mined(hash: Promise<Hex>) {
    const receipt = await receiptOf(service.chain, await hash);
    expect(receipt.status).toBe('success');
    // The follower needs a moment to read the block.
    await until('the block in the ledger', () => {
      const { n } = first<{ n: number }>('select max(number) as n from followed_blocks');
      return n >= Number(receipt.blockNumber);
    });
  }

  test('RWT that no sale was asked for', async () => {
    const role = keccak256(toHex('MINTER_ROLE'));
    const token = { address: contract('token'), abi: rewardTokenAbi, account: admin ?? null } as const;
    const write = wallet();
    const address = admin?.address ?? '0x';
    await mined(write.writeContract({ ...token, functionName: 'grantRole', args: [role, address] }));
    await mined(write.writeContract({ ...token, functionName: 'setMinterCap', args: [address, 10n] }));
    await mined(write.writeContract({ ...token, functionName: 'mint', args: [address, 10n] }));
    const { differences } = await verify();
    expect(differences.map(({ kind }) => kind)).toEqual(['token_supply']);
    expect(BigInt(differences[0]?.found ?? 0) - BigInt(differences[0]?.expected ?? 0)).toBe(10n);
  });

  test('a sale is no difference of its own', async () => {
    const before = await kindsFound();
    const bob = account(6);
    ledger
      .prepare(
        `insert into operator_mints (key, kind, recipient, amount, reason, created_at, failure)
          values (?, 'wallet', ?, 50, 'test', 0, 'sent by hand')`,
      )
      .run(`0x${createHash('sha256').update('sale').digest('hex')}`, bob.address.toLowerCase());
    await mined(
      wallet().writeContract({
        address: contract('pointsSale'),
        abi: pointsSaleAbi,
        account: mint ?? null,
        functionName: 'mintForPayment',
        args: [`0x${createHash('sha256').update('sale').digest('hex')}`, bob.address, 50n],
      }),
    );
    expect(await kindsFound()).toEqual(before);
  });

  test('RWT that the escrow collected for no redemption, for another user, or not at all', async () => {
    const bob = account(6);
    const key = `0x${createHash('sha256').update('perk').digest('hex')}` as const;
    const mayCollect = [roleId('REDEMPTION_ROLE'), admin?.address ?? '0x'] as const;
    await mined(
      wallet().writeContract({
        address: contract('escrow'),
        abi: businessEscrowAbi,
        account: admin ?? null,
        functionName: 'grantRole',
        args: mayCollect,
      }),
    );
    await mined(
      wallet().writeContract({
        address: contract('escrow'),
        abi: businessEscrowAbi,
        account: admin ?? null,
        functionName: 'redeem',
        args: [`0x${createHash('sha256').update('perk').digest('hex')}`, brand(), bob.address, 20n],
      }),
    );
    expect(await kindsFound()).toContain('redemption_unknown');
    const row = (wallet: string, failure: string | null) =>
      ledger
        .prepare(
          `insert or replace into redemptions (id, key, brand_id, perk_id, token_id, user_key, wallet, cost,
              confirmation_code, created_at, failure) values ('r1', ?, ?, 'p1', 1, 'bob', ?, 20, 'c1', 0, ?)`,
        )
        .run(key, brand(), wallet, failure);
    row(`0x${'77'.repeat(20)}`, null);
    expect(await kindsFound()).toContain('redemption_differs');
    row(bob.address.toLowerCase(), 'reverted');
    expect(await kindsFound()).toContain('redemption_differs');
    row(bob.address.toLowerCase(), null);
    const { differences } = await verify();
    expect(differences.filter(({ kind }) => kind.startsWith('redemption'))).toEqual([]);
    const done = ledger.prepare("select id from transactions where outcome = 'done' limit 1").get() as {
      id: string;
    };
    ledger
      .prepare(
        `insert into redemptions (id, key, brand_id, perk_id, token_id, user_key, wallet, cost, confirmation_code,
            created_at, transaction_id) values ('r2', ?, ?, 'p1', 1, 'bob', ?, 20, 'c2', 0, ?)`,
      )
      .run(`0x${'ab'.repeat(32)}`, brand(), bob.address.toLowerCase(), done.id);
    expect(await kindsFound()).toContain('redemption_without_debit');
    ledger.prepare("delete from redemptions where id = 'r2'").run();
  });

  test('a perk that the contract sells on other terms, or has another number of, than the catalogue says', async () => {
    const change = (sets: string, tokenId: number) =>
      ledger.prepare(`update perks set ${sets} where token_id = ?`).run(tokenId);
    const ofPerks = async () =>
      (await verify()).differences
        .filter(({ kind }) => kind.startsWith('perk'))
        .map(({ kind, about, expected, found }) => [kind, about.tokenId, expected, found])
        .toSorted((a, b) => Number(a[1]) - Number(b[1]));
    expect(await ofPerks()).toEqual([]);
    change('stock = stock + 1', 5);
    expect(await ofPerks()).toEqual([['perk_stock', 5, '3', '2']]);
    change('stock = -1', 5);
    expect(await ofPerks()).toEqual([['perk_stock', 5, 'no limit', '2']]);
    change('stock = 2', 5);
    change('cost = cost + 1', 1);
    change('active = 0', 2);
    expect(await ofPerks()).toMatchObject([
      [
        'perk_terms',
        1,
        expect.stringMatching(/^51 RWT to 0x\w{40}, on sale$/),
        expect.stringMatching(/^50 RWT/),
      ],
      ['perk_terms', 2, expect.stringContaining('not on sale'), expect.stringContaining(', on sale')],
    ]);
    change('cost = cost - 1', 1);
    change('active = 1', 2);
    expect(await ofPerks()).toEqual([]);
  });

  test('a payout with the key of the lane that the ledger never saw', async () => {
    const data = encodePayoutBatch([
      { sequence: 900n, brandId: brand(), to: `0x${'56'.repeat(20)}`, amount: 11n },
    ]);
    await mined(wallet().sendTransaction({ account: payout ?? null, to: contract('escrow'), data }));
    const { differences } = await verify();
    const kinds = differences.map(({ kind }) => kind);
    for (const kind of [
      'unknown_payout_transaction',
      'payout_without_reward',
      'escrow_balance',
      'account_nonce',
    ] as const) {
      expect(kinds).toContain(kind);
    }
    expect(differences.find(({ kind }) => kind === 'payout_without_reward')).toMatchObject({
      about: { sequence: 900 },
      found: `11 RWT of ${brand()} to 0x${'56'.repeat(20)}`,
    });
  });
});
