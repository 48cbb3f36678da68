/** The mint lane against a real node that does its worst: every mint on chain once, or given up with a reason. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { encodeFunctionData, type Hex, keccak256, toHex } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { afterEach, expect, test } from 'vitest';
import { pointsSaleAbi, rewardTokenAbi } from '../../src/chain/contracts/abis.ts';
import { sessionMintKey } from '../../src/chain/contracts/sale-mint.ts';
import { keyTree } from '../../src/chain/lane/local-key.ts';
import { DEV_MNEMONIC, devPaths } from '../../src/lib/development.ts';
import { minedBy } from '../kits/chain/chain.ts';
import { devAccount } from '../kits/chain/dev-accounts.ts';
import { type EngineKit, eventually, impatient, startEngineKit } from './kit.ts';

let kit: EngineKit | undefined;
afterEach(async () => {
  await kit?.stop();
  kit = undefined;
});

const SEND = /^eth_sendRawTransaction$/;
const admin = devAccount({ addressIndex: 0 }).address;
const mintSigner = keyTree(DEV_MNEMONIC).signerAt(devPaths.mint);
const lane = mintSigner.address;
const finalityBlocks = 5;
const patience = { ...impatient, follow: { finalityBlocks }, mint: { refusedRetryMs: 300 } };

const start = async (options: Parameters<typeof startEngineKit>[0] = {}) => {
  kit = await startEngineKit({ ...options, config: { engine: patience, ...options.config } });
  return kit;
};
const somebody = () => privateKeyToAddress(generatePrivateKey());
/** Asks for a mint at the front door. */
const mint = ({ ready, request }: EngineKit, to: string, amount: unknown = 10, reason?: unknown) =>
  request(`${ready.urls.control}/mints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ready.controlToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ to, amount, reason }),
  });
const balance = (engine: EngineKit, of: Hex) =>
  engine.node.readContract({
    address: engine.ready.contracts.token as Hex,
    abi: rewardTokenAbi,
    functionName: 'balanceOf',
    args: [of],
  });
/** Statements on the ledger from outside. */
const onLedger = <T>(engine: EngineKit, work: (ledger: Sqlite.Database) => T): T => {
  const ledger = new Sqlite(join(engine.ready.dataDir, 'ledger.sqlite'));
  try {
    return work(ledger);
  } finally {
    ledger.close();
  }
};
interface MintRow {
  key: Hex;
  failed_tries: number;
  failure: string | null;
  transaction_id: string | null;
}
const rows = (engine: EngineKit) =>
  onLedger(engine, (ledger) =>
    ledger.prepare("select * from operator_mints where kind = 'wallet'").all(),
  ) as MintRow[];
/** Transactions that the node has and no block. */
const pendingAt = async ({ rpc }: EngineKit) =>
  Number(((await rpc('txpool_status')) as { pending: Hex }).pending);
/** Mints of the lane that the chain has, by key. */
const minted = async (engine: EngineKit) =>
  (
    await engine.node.getContractEvents({
      address: engine.ready.contracts.pointsSale as Hex,
      abi: pointsSaleAbi,
      eventName: 'Minted',
      fromBlock: 0n,
    })
  ).map(({ args }) => ({ to: args.to, amount: Number(args.amount) }));
/** Everybody has their RWT, once, and ledger and chain agree. */
async function mintedOnce(engine: EngineKit, people: Hex[]): Promise<void> {
  for (const one of people) await eventually(() => balance(engine, one)).toBe(10n);
  const expected = people.map((to) => ({ to, amount: 10 }));
  expect((await minted(engine)).sort(byAddress)).toEqual(expected.sort(byAddress));
  const verified = await eventuallyVerified(engine);
  expect(verified.differences).toEqual([]);
}
const byAddress = (one: { to?: Hex | undefined }, other: { to?: Hex | undefined }) =>
  (one.to ?? '').toLowerCase() < (other.to ?? '').toLowerCase() ? -1 : 1;
async function eventuallyVerified(engine: EngineKit) {
  const verify = async () => (await engine.request(`${engine.ready.urls.control}/verify`)).body;
  await eventually(async () => (await verify()).ok).toBe(true);
  return verify();
}

test('twenty at once: each in a transaction of its own', async () => {
  const engine = await start();
  const people = Array.from({ length: 20 }, somebody);
  const answers = await Promise.all(people.map((one) => mint(engine, one)));
  for (const { status, body } of answers)
    expect({ status, failure: body.failure }).toEqual({ status: 201, failure: null });
  await mintedOnce(engine, people);
  expect(new Set(rows(engine).map((row) => row.transaction_id)).size).toBe(20);
  expect(await engine.node.getTransactionCount({ address: lane })).toBe(20);
});

test('answers of the node that get lost: every mint once, and its bytes on disk before any node has them', async () => {
  const engine = await start({ seed: 7 });
  engine.proxy.add({ fault: 'lost-answer', method: SEND, times: 4 });
  engine.proxy.add({ fault: 'lost-request', method: SEND, times: 4 });
  engine.proxy.add({ fault: 'duplicate', method: SEND, probability: 0.5 });
  engine.proxy.add({ fault: 'unavailable', method: /^eth_simulateV1$/, times: 3 });
  const people = Array.from({ length: 8 }, somebody);
  await Promise.all(people.map((one) => mint(engine, one)));
  engine.proxy.heal();
  await mintedOnce(engine, people);
  expect((await engine.record()).notWrittenAhead).toEqual([]);
});

test('blocks that are taken back: the same bytes are in the next ones', async () => {
  // A machine that is slow makes no better offer of them.
  const lane = { ...impatient.lane, bumpAfterMs: 600_000 };
  const engine = await start({ config: { engine: { ...patience, lane } } });
  const people = Array.from({ length: 3 }, somebody);
  await Promise.all(people.map((one) => mint(engine, one)));
  for (const one of people) await eventually(() => balance(engine, one)).toBe(10n);
  const hashes = (await engine.ledger.attempts()).map(({ hash }) => hash as Hex);
  await engine.rpc('anvil_reorg', 3, []);
  engine.keepMining();
  await mintedOnce(engine, people);
  for (const hash of hashes) expect(await engine.node.getTransactionReceipt({ hash })).toBeTruthy();
});

test('a block that offers stay out of: a better offer with the same payload mints once', async () => {
  const engine = await start({
    config: { engine: { ...patience, lane: { resendAfterMs: 200, bumpAfterMs: 300 } } },
  });
  await engine.rpc('evm_setAutomine', false);
  const to = somebody();
  const waiting = mint(engine, to);
  await eventually(async () => (await engine.ledger.attempts()).length).toBeGreaterThan(1);
  await engine.rpc('evm_setAutomine', true);
  engine.keepMining();
  await waiting;
  await mintedOnce(engine, [to]);
});

test('a nonce that somebody else used: the lane says so, and the mint comes once it is lost for good', async () => {
  const engine = await start();
  await engine.rpc('evm_setAutomine', false);
  const to = somebody();
  const waiting = mint(engine, to);
  await eventually(async () => (await engine.ledger.attempts()).length).toBe(1);
  const foreign = await mintSigner.signTransaction({
    type: 'eip1559',
    chainId: engine.ready.chain.id,
    nonce: 0,
    to: lane,
    value: 0n,
    gas: 21_000n,
    maxFeePerGas: 90n * 10n ** 9n,
    maxPriorityFeePerGas: 50n * 10n ** 9n,
  });
  engine.proxy.add({ fault: 'lost-request', method: SEND });
  await engine.rpc('eth_sendRawTransaction', foreign);
  await engine.mine();
  engine.proxy.heal();
  await engine.rpc('evm_setAutomine', true);
  await engine.mine(finalityBlocks + 2);
  engine.keepMining();
  await waiting;
  await eventually(() => balance(engine, to)).toBe(10n);
  expect(engine.alarms()).toContain('nonce_lost');
  expect(await minted(engine)).toEqual([{ to, amount: 10 }]);
  expect(rows(engine)).toMatchObject([{ failed_tries: 1, failure: null }]);
});

test('a mint that was made already counts as minted, by a transaction of its own that mints nothing more', async () => {
  const engine = await start();
  const to = somebody();
  const session = 'cs_test_already';
  const { pointsSale } = engine.ready.contracts;
  const args = [sessionMintKey(session), to, 10n] as const;
  const data = encodeFunctionData({ abi: pointsSaleAbi, functionName: 'mintForPayment', args });
  await engine.rpc('anvil_impersonateAccount', admin);
  await engine.rpc('eth_sendTransaction', { from: admin, to: pointsSale, data });
  await eventually(() => balance(engine, to)).toBe(10n);
  // What the follower has read before it is planned, only the sale tells.
  const block = Number(await engine.node.getBlockNumber());
  const read = () =>
    onLedger(engine, (ledger) => ledger.prepare('select max(number) as number from followed_blocks').get());
  await eventually(async () => (read() as { number: number }).number >= block).toBe(true);
  planSession(engine, { session, to });
  const done = () =>
    onLedger(engine, (ledger) =>
      ledger
        .prepare(
          'select outcome from mints join transactions on transactions.id = transaction_id where session_id = ?',
        )
        .get(session),
    );
  await eventually(done).toEqual({ outcome: 'done' });
  expect(await balance(engine, to)).toBe(10n);
  expect(await minted(engine)).toEqual([{ to, amount: 10 }]);
});

test('a call that can never run is given up with the reason of the contract, and the others go on', async () => {
  const engine = await start();
  const { escrow } = engine.ready.contracts;
  const refused = await mint(engine, escrow);
  expect(refused).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('escrow contract') },
  });
  // No request may ask for that, so the ledger is changed behind the service.
  planSession(engine, { session: 'cs_test_never', to: escrow as Hex });
  const to = somebody();
  await mint(engine, to);
  await eventually(() => balance(engine, to)).toBe(10n);
  const failure = () =>
    onLedger(engine, (ledger) => ledger.prepare('select failure, transaction_id from mints').get());
  await eventually(failure).toEqual({
    failure: expect.stringContaining('InvalidRecipient'),
    transaction_id: null,
  });
  expect(engine.alarms()).toContain('mint_given_up');
  expect(await minted(engine)).toEqual([{ to, amount: 10 }]);
  expect(await engine.node.getTransactionCount({ address: lane })).toBe(1);
});

test('without its role the lane sends nothing and says why; with it, what waited is minted', async () => {
  const engine = await start();
  const { pointsSale } = engine.ready.contracts;
  await engine.rpc('anvil_impersonateAccount', admin);
  const asAdmin = async (functionName: 'grantRole' | 'revokeRole') => {
    const args = [keccak256(toHex('OPERATOR_ROLE')), lane] as const;
    const data = encodeFunctionData({ abi: pointsSaleAbi, functionName, args });
    const hash = (await engine.rpc('eth_sendTransaction', { from: admin, to: pointsSale, data })) as Hex;
    await minedBy(engine.node, hash);
  };
  await asAdmin('revokeRole');
  const to = somebody();
  const waiting = mint(engine, to);
  await eventually(async () => engine.logged.find(({ alarm }) => alarm === 'mint_refused')?.reason).toContain(
    'AccessControlUnauthorizedAccount',
  );
  expect(await engine.ledger.attempts()).toEqual([]);
  await asAdmin('grantRole');
  await waiting;
  await eventually(async () => engine.alarmsOver()).toContain('mint_refused');
  await mintedOnce(engine, [to]);
});

test('a transaction that did nothing lets its mint wait again', async () => {
  const engine = await start();
  const { pointsSale } = engine.ready.contracts;
  const code = await engine.node.getCode({ address: pointsSale as Hex });
  await engine.rpc('evm_setAutomine', false);
  const to = somebody();
  const waiting = mint(engine, to);
  await eventually(() => pendingAt(engine)).toBe(1);
  // A contract that fails in the block, whatever it said when the call was tried out.
  await engine.rpc('anvil_setCode', pointsSale, '0xfe');
  await engine.mine();
  await engine.rpc('anvil_setCode', pointsSale, code);
  await eventually(async () => engine.alarms()).toContain('transaction_reverted');
  await engine.rpc('evm_setAutomine', true);
  await engine.mine(finalityBlocks + 2);
  engine.keepMining();
  expect((await waiting).body).toMatchObject({
    state: 'minted',
    to: expect.stringMatching(new RegExp(to, 'i')),
  });
  expect(rows(engine)).toMatchObject([{ failed_tries: 1, failure: null }]);
  await mintedOnce(engine, [to]);
});

test('a wish with a wrong account, amount or reason is refused, and nothing is recorded', async () => {
  const engine = await start();
  const nobody = `0x${'0'.repeat(40)}`;
  const wishes: [to: string, amount: unknown, reason: string, setting: string][] = [
    ['0x12', 10, 'because', 'to'],
    [nobody, 10, 'because', 'to'],
    [somebody(), 0, 'because', 'amount'],
    [somebody(), '1.5', 'because', 'amount'],
    [somebody(), 10, ' ', 'reason'],
  ];
  for (const [to, amount, reason, setting] of wishes) {
    const { status, body } = await mint(engine, to, amount, reason);
    expect({ status, text: JSON.stringify(body) }).toMatchObject({
      status: 400,
      text: expect.stringContaining(setting),
    });
  }
  expect(rows(engine)).toEqual([]);
});

/** Plans a session's mint past the service, which finds it by itself. */
function planSession(engine: EngineKit, { session, to }: { session: string; to: Hex }): void {
  onLedger(engine, (ledger) =>
    ledger
      .prepare(
        `insert into mints (session_id, key, kind, brand_id, wallet, usd_cents, rwt_amount, payment_intent_id,
          created_at, failed_tries) values (?, ?, 'wallet', ?, ?, 1, 10, 'pi_1', 0, 0)`,
      )
      .run(session, sessionMintKey(session), engine.brand.brandId, to.toLowerCase()),
  );
}
