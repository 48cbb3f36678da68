/** Judges a recovery: a plan changes nothing and lists what the ledger lacks, what is applied equals the chain, and no lost number comes again. */
import type { Hex } from 'viem';
import type { RecoveryReport } from '../../../../src/production/recovery/report.ts';
import { OUR_ACCOUNTS } from '../model/accounts.ts';
import type { ReadTransaction } from '../model/cheap-signer.ts';
import { isForeign, type ModelBlock } from '../model/model-chain.ts';
import type { LedgerCopy } from '../sim-ledger.ts';
import type { World } from '../world.ts';
import type { Evidence } from './checks.ts';

const isOurs = ({ from }: ReadTransaction) => OUR_ACCOUNTS.includes(from);

/** Blocks from the first to the one that the recovery read last. */
function blocksTo({ chain }: World, headBlock: number): ModelBlock[] {
  return chain.canonical().filter(({ number }) => number <= headBlock);
}

const ourTransactions = (blocks: ModelBlock[]): ReadTransaction[] =>
  blocks.flatMap(({ entries }) =>
    entries.flatMap((entry) =>
      'transaction' in entry && isOurs(entry.transaction) ? entry.transaction : [],
    ),
  );

const blockOf = ({ chain }: World, hash: Hex) =>
  chain.canonical().find(({ receipts }) => receipts.some((one) => one.hash === hash));

const namesIn = ({ tables }: LedgerCopy, table: string, column: string) =>
  new Set((tables.get(table) ?? []).map((row) => row[column]));

/** `known`: the ledger as it was before the plan. */
export async function checkPlan(
  world: World,
  { planned, known }: { planned: RecoveryReport; known: LedgerCopy },
): Promise<void> {
  const { findings, ledger, plan, chain } = world;
  const after = await ledger.copy();
  for (const [table, rows] of known.tables)
    if (JSON.stringify(rows) !== JSON.stringify(after.tables.get(table)))
      findings.add('a plan changes nothing', `it changes ${table}`);
  const blocks = blocksTo(world, planned.headBlock);
  const lacks = (what: string) => findings.add('a plan lists what was lost', what);
  checkRewards(world, { planned, known, blocks });
  const redeemed = namesIn(known, 'redemptions', 'key');
  const minted = new Set([...namesIn(known, 'mints', 'key'), ...namesIn(known, 'operator_mints', 'key')]);
  for (const { redemptions, sales } of blocks) {
    for (const { key, isNew } of redemptions)
      if (isNew && !redeemed.has(key) && !planned.redemptions.some((one) => one.key === key))
        lacks(`redemption ${key}`);
    for (const { key, isNew } of sales)
      if (isNew && !minted.has(key) && !planned.mints.some((one) => one.key === key)) lacks(`mint ${key}`);
  }
  if (plan.loss?.showsPool !== 'not at all' || plan.loss.mines > 0) return;
  const hashes = namesIn(known, 'attempts', 'hash');
  for (const { from, nonce, hash } of chain.waiting().filter(isOurs)) {
    const isTold = planned.pendingUnknown.some(
      ({ account, fromNonce, nextNonce }) => account === from && fromNonce <= nonce && nonce < nextNonce,
    );
    const isKnownNonce = (known.tables.get('transactions') ?? []).some(
      (row) => row.lane === from && row.nonce === nonce,
    );
    if (!hashes.has(hash) && !isKnownNonce && !isTold) lacks(`nonce ${nonce} of ${from}, which waits`);
  }
}

/** Every payment that the ledger lacks, and of each its event, or all that it may have been for. */
function checkRewards(
  { findings, lost }: World,
  of: { planned: RecoveryReport; known: LedgerCopy; blocks: ModelBlock[] },
): void {
  const { planned, known, blocks } = of;
  const sequences = namesIn(known, 'rewards', 'sequence');
  for (const { sequence, brandId, to, amount } of blocks.flatMap(({ payments }) => payments)) {
    if (sequences.has(sequence)) continue;
    const told = planned.rewards.find((one) => one.sequence === sequence);
    const isSame = told?.brandId === brandId && told.wallet === to && told.amount === amount;
    if (!isSame) findings.add('a plan lists what was lost', `sequence ${sequence}: ${JSON.stringify(told)}`);
    const meant = lost.rewards.find((one) => one.sequence === sequence)?.event_type;
    const events = told?.event === null ? (told.mayBe as string[]) : [told?.event];
    if (meant !== undefined && !events.includes(meant))
      findings.add('a plan lists what was lost', `sequence ${sequence} was for ${meant}, not ${events}`);
  }
}

/** Everything of ours that a block has, or that a pool shows, is the ledger's again; `planAgain` finds nothing any more. */
export async function checkApplied(
  world: World,
  report: RecoveryReport,
  planAgain: () => Promise<RecoveryReport | undefined>,
): Promise<void> {
  const { findings, ledger, plan, chain, lost } = world;
  const differs = (what: string) => findings.add('what is recovered equals the chain', what);
  const hashes = new Set(
    (await ledger.rows<{ hash: Hex }>('select hash from attempts')).map(({ hash }) => hash),
  );
  const shown = plan.loss?.showsPool === 'not at all' ? [] : chain.waiting().filter(isOurs);
  // What somebody else has done under a nonce of ours, in a block that the ledger had read, its lane has seen to.
  const isRead = (one: ReadTransaction) =>
    isForeign(one) && (blockOf(world, one.hash)?.number ?? 0) <= (report.agreedBlock ?? 0);
  const ours = ourTransactions(blocksTo(world, report.headBlock)).filter((one) => !isRead(one));
  for (const { hash, from, nonce } of [...ours, ...shown])
    if (!hashes.has(hash)) differs(`nonce ${nonce} of ${from}, ${hash}, is not in the ledger`);
  const paid = new Set(
    blocksTo(world, report.headBlock).flatMap(({ payments }) => payments.map(({ to }) => to.toLowerCase())),
  );
  const wallets = await ledger.rows<{ derivation_index: number | null; address: string }>(
    'select derivation_index, address from wallets',
  );
  for (const [index, { address }] of lost.wallets) {
    const is = wallets.some((one) => one.derivation_index === index && one.address === address);
    if (paid.has(address.toLowerCase()) && !is) differs(`wallet ${index} was paid and belongs to nobody`);
  }
  const open = await ledger.rows('select id from recoveries where finished_at is null');
  if (open.length > 0) differs('a recovery is not finished');
  if (findings.list.length > 0 || plan.loss?.mines !== 0) return;
  const next = await planAgain();
  if (next && next.state !== 'nothing') differs(`another plan finds ${JSON.stringify(next.transactions)}`);
}

/** Sequences and wallets of lost rows stand for whom they stood for, or for nobody. */
export async function checkLostNumbers(
  { findings, ledger, lost }: World,
  { rewards }: Evidence,
): Promise<void> {
  if (!lost.isRecovered) return;
  const given = (what: string) => findings.add('no lost number for somebody else', what);
  const now = new Map(rewards.map((reward) => [reward.sequence, reward]));
  for (const { sequence, brand_id, wallet, amount } of lost.rewards) {
    const reward = now.get(sequence);
    const isSame =
      reward?.brand_id === brand_id &&
      reward.wallet.toLowerCase() === wallet.toLowerCase() &&
      reward.amount === amount;
    if (reward && !isSame) given(`sequence ${sequence} is of ${wallet} and ${reward.wallet}`);
  }
  const wallets = await ledger.rows<{ derivation_index: number | null; user_key: string }>(
    'select derivation_index, user_key from wallets',
  );
  for (const { derivation_index: index, user_key } of wallets) {
    const before = index === null ? undefined : lost.wallets.get(index);
    const isOwn = before?.userKey === user_key || before?.address.toLowerCase() === user_key.toLowerCase();
    if (before && !isOwn) given(`wallet ${index} of ${before.userKey} is ${user_key}'s`);
  }
}
