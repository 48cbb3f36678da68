/** Judges redemptions by the chain: each debited once, with its code, or not at all; RWT and stock promised to one alone. */
import { redemptionCall, redemptionKey } from '../../../../src/chain/contracts/calls/perk-calls.ts';
import { REFUSED_BY_CODE } from '../../../../src/chain/work/try-calls.ts';
import { numberOf } from '../callers/words.ts';
import { PERK, REDEEM_LANE } from '../model/accounts.ts';
import { isForeign, slotOf } from '../model/model-chain.ts';
import { isOfCode } from '../model/model-perks.ts';
import { GIVE_UP_AFTER_MS, redeemerOf } from '../redeeming.ts';
import type { World } from '../world.ts';
import type { Evidence } from './checks.ts';

interface RedemptionRow {
  id: string;
  key: `0x${string}`;
  wallet: `0x${string}`;
  token_id: number;
  cost: number;
  confirmation_code: string;
  transaction_id: string | null;
  failure: string | null;
  consent: string;
  permit: string | null;
  waiting_since: number;
}

/** Why the contract refuses a redemption for which it has too little left. */
const TOO_LITTLE = /^(?:PerkSoldOut|ERC20InsufficientBalance)/;

export async function checkRedemptions(world: World, evidence: Evidence, ended: boolean): Promise<void> {
  const { plan, findings, ledger } = world;
  if (plan.perks.redemptions === 0) return;
  const rows = await ledger.rows<RedemptionRow>('select * from redemptions order by rowid');
  const refusedOf = checkSent(world, evidence);
  const debited = checkDebits(world, evidence, rows);
  for (const { id, key, failure, ...row } of rows) {
    if (failure !== null && debited.has(key))
      findings.add('no debit without its code', `${id} failed (${failure}) and is debited`);
    if (!ended) continue;
    if (failure === null && !debited.has(key))
      findings.add('no code without its debit', `${id} is not debited`);
    const permit = row.permit === null ? null : JSON.parse(row.permit);
    const { data } = redemptionCall({ ...row, permit, key, tokenId: row.token_id });
    const caused =
      isByManner(world, { ...row, failure }) ||
      failure === null ||
      (failure === 'reverted' || failure === 'not_sent' ? refusedOf.has(data) : TOO_LITTLE.test(failure));
    if (!caused) findings.add('no code without its debit', `${id} failed without a cause: ${failure}`);
  }
  for (const { id } of await ledger.rows<{ id: string }>('select * from sim_redemption_bindings'))
    findings.add('one nonce a redemption', `${id} left its transaction`);
  checkPromises(world, rows, refusedOf);
  checkWords(world, evidence, rows);
  checkCallers(world, { rows, debited });
}

/** What the chain collected is what the ledger has a code for; returns the keys. */
function checkDebits({ findings }: World, { blocks }: Evidence, rows: RedemptionRow[]): Set<string> {
  const debited = new Set<string>();
  const known = new Map<string, RedemptionRow>(rows.map((row) => [row.key, row]));
  for (const { redemptions, state } of blocks) {
    for (const { key, wallet, tokenId, isNew } of redemptions) {
      const row = known.get(key);
      const { wallet: of, token_id, cost, confirmation_code: code } = row ?? {};
      if (of !== wallet || token_id !== tokenId || cost !== PERK.cost || !code)
        findings.add('no debit without its code', `${key} of ${wallet}`);
      if (!isNew) findings.add('one nonce a redemption', `${row?.id} was to be redeemed again`);
      else if (debited.has(key)) findings.add('no redemption debited twice', row?.id ?? key);
      else debited.add(key);
    }
    const { stock, held } = state.perks;
    if (stock < 0 || [...held.values()].some((rwt) => rwt < 0))
      findings.add('no redemption debited twice', `${stock} left, RWT ${[...held.values()]}`);
  }
  return debited;
}

/** Each redemption is under one nonce; returns the calls that a block shows as without effect, by their data. */
function checkSent({ findings, sent }: World, { blocks }: Evidence): Map<string, 'reverted' | 'lost'> {
  const without = new Map<string, 'reverted' | 'lost'>();
  for (const { entries, receipts } of blocks) {
    for (const [place, entry] of entries.entries()) {
      if (!('transaction' in entry) || entry.transaction.from !== REDEEM_LANE) continue;
      const { transaction } = entry;
      const isLost = isForeign(transaction);
      const data = isLost ? sent.get(slotOf(transaction))?.[0]?.data : transaction.data;
      if (data && (isLost || receipts[place]?.succeeded === false))
        without.set(data, isLost ? 'lost' : 'reverted');
    }
  }
  const under = new Map<string, string>();
  for (const [slot, [first]] of sent) {
    if (first?.from !== REDEEM_LANE) continue;
    const earlier = under.get(first.data);
    if (earlier !== undefined)
      findings.add('one nonce a redemption', `${first.data.slice(0, 40)} is under ${earlier} and ${slot}`);
    under.set(first.data, slot);
  }
  return without;
}

/** Whether it failed for what this user's wallet does, or for what our contracts say to them for ever. */
function isByManner(
  { plan, time }: World,
  { wallet, failure, waiting_since: sinceMs }: Pick<RedemptionRow, 'wallet' | 'failure' | 'waiting_since'>,
): boolean {
  const manner = plan.perks.manners.get(wallet);
  if (failure === 'expired') return manner === 'refused by us' && time.now() - sinceMs >= GIVE_UP_AFTER_MS;
  return isOfCode(manner) && failure?.startsWith(REFUSED_BY_CODE) === true;
}

/**
 * Nobody is debited but on their own word, or within what the brand has paid them: each redemption without a word was
 * within it, beside all that were admitted before.
 */
function checkWords(world: World, { blocks, recovered }: Evidence, rows: RedemptionRow[]): void {
  const { findings, chain, redemptionRequests } = world;
  const wereTakenBack = chain.heads.length > chain.canonical().length;
  const paid = new Map<string, number>();
  for (const { payments } of blocks)
    for (const { brandId, to, amount } of payments)
      if (brandId === PERK.brandId) paid.set(to, (paid.get(to) ?? 0) + amount);
  const spent = new Map<string, number>();
  const permits = new Map<number, string>();
  for (const { id, wallet, cost, consent, failure, permit } of rows) {
    if (recovered.redemptions.has(id)) {
      // Who asked for it is lost; what it took counts for those who come after it, and so does the permit that paid.
      if (failure === null) spent.set(wallet, (spent.get(wallet) ?? 0) + cost);
      if (failure === null && permit !== null) permits.set(numberOf(JSON.parse(permit)), id);
      continue;
    }
    const request = redemptionRequests.find(({ ids }) => ids.includes(id));
    const { word } = request ?? {};
    if (!request || !word || redeemerOf(request.number) !== wallet) {
      findings.add('no RWT without its word', `${id} debits ${wallet}, who did not ask`);
      continue;
    }
    const isOwn = word.by === 'token' || word.by === 'permit' ? word.of === wallet : true;
    if (!isOwn) findings.add('no RWT without its word', `${id} is paid on the ${word.by} of somebody else`);
    if (failure !== null) continue;
    const total = (spent.get(wallet) ?? 0) + cost;
    spent.set(wallet, total);
    const isUnasked = word.by === 'key' || word.by === 'none';
    if (isUnasked !== (consent === 'grant'))
      findings.add('no RWT without its word', `${id} was asked for by ${word.by} and is paid by ${consent}`);
    // What a block paid, and the chain took back, may have been spent meanwhile.
    if (isUnasked && !wereTakenBack && total > (paid.get(wallet) ?? 0))
      findings.add(
        'no RWT without its word',
        `${total} RWT of ${wallet}, who was paid ${paid.get(wallet) ?? 0}`,
      );
    if (word.by !== 'permit') continue;
    const earlier = permits.get(word.permit);
    if (earlier !== undefined)
      findings.add('no RWT without its word', `permit ${word.permit} pays ${earlier} and ${id}`);
    permits.set(word.permit, id);
  }
}

/** Where nobody else takes RWT or stock, and no block is taken back, the contract never has too little. */
function checkPromises(
  { plan, findings, chain }: World,
  rows: RedemptionRow[],
  refused: Map<string, string>,
) {
  const wereTakenBack = chain.heads.length > chain.canonical().length;
  // A redemption whose refusal is lost waits again, when others have what was left.
  if (plan.perks.others || wereTakenBack || plan.loss) return;
  const { stock, held } = plan.perks;
  const good = rows.filter(({ failure }) => failure === null);
  const spent = new Map<string, number>();
  for (const { wallet, cost } of good) spent.set(wallet, (spent.get(wallet) ?? 0) + cost);
  for (const [wallet, sum] of spent)
    if (sum > held)
      findings.add('no RWT or stock promised twice', `${sum} RWT of ${wallet}, which has ${held}`);
  if (good.length > stock) findings.add('no RWT or stock promised twice', `${good.length} of ${stock}`);
  for (const { id, failure } of rows)
    if (failure !== null && TOO_LITTLE.test(failure))
      findings.add('no RWT or stock promised twice', `${id}: ${failure}`);
  if (plan.rates.has('revert') || plan.perks.manners.size > 0) return;
  for (const [data, why] of refused)
    if (why === 'reverted') findings.add('no RWT or stock promised twice', `${data.slice(0, 74)} reverted`);
}

function checkCallers(
  { findings, chain, redemptionRequests }: World,
  { rows, debited }: { rows: RedemptionRow[]; debited: Set<string> },
): void {
  const wereTakenBack = chain.heads.length > chain.canonical().length;
  for (const { told, status, ids, number } of redemptionRequests) {
    const own = rows.filter(({ id }) => ids.includes(id));
    const done = own.filter(({ key }) => debited.has(key));
    if (done.length > 1) findings.add('no redemption debited twice', `request ${number} took ${done.length}`);
    if (told && !own.some(({ confirmation_code: code }) => code === told.code))
      findings.add('no answer without its redemption', `request ${number} was told of a code of nobody`);
    if (told && !wereTakenBack && !done.some(({ confirmation_code: code }) => code === told.code))
      findings.add('no answer without its redemption', `request ${number} was not debited`);
    // A block that refused it may be taken back, and the next one may take it.
    if (status === 'refused' && !wereTakenBack && done.length > 0)
      findings.add('no refusal with a redemption', `request ${number} was refused and debited`);
    for (const { id, key } of own)
      if (key !== redemptionKey(id)) findings.add('no debit without its code', `${id} has another's key`);
  }
}
