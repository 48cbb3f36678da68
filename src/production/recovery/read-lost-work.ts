/** Finds out what the chain and the pools have that the ledger has lost. Writes nothing. */
import { paidAheadOfLedger } from '../../audit/ahead-of-ledger.ts';
import { everySender, nextSequence } from '../../ledger/audit-pages.ts';
import { attemptsFrom } from '../../ledger/recovery/adopt-transactions.ts';
import { everyRecovery, readCounters } from '../../ledger/recovery/recoveries.ts';
import { listGasWallets } from '../../ledger/relay/gas-wallets.ts';
import type { CountersBefore } from '../../ledger/schema/recoveries.ts';
import { everyLane } from '../../ledger/transactions/backlog.ts';
import { recentBlocks } from '../../ledger/transactions/followed-blocks.ts';
import { nextNonce } from '../../ledger/transactions/transactions.ts';
import { PreconditionError } from '../../lib/failures/precondition.ts';
import type { Hex } from '../../lib/hex.ts';
import { problemOf } from '../start-errors.ts';
import type { FoundTransaction, LostWork, RecoveryDeps } from './context.ts';
import { readBlocks } from './read-blocks.ts';
import { readPools } from './read-pools.ts';

/** How often it is read again when the chain was reorganised meanwhile. */
const TRIES = 5;
const TRY_AGAIN_MS = 500;
/** Places of a key tree without any use, after which nothing further is looked for; wallets that were only shown leave gaps. */
const WALLETS_GAP = 1_000;
const GAS_WALLETS_GAP = 20;
/**
 * Sequences that are left out behind the highest that was seen: as many as all batches in flight can carry, 64 with 400
 * rewards each. One of them may come from a pool that no node of ours shows; nobody else is promised its sequence.
 */
const SEQUENCES_LEFT_OUT = 64 * 400;
const BITS = 256;

/** `began`: the counters as they were before a recovery that was broken off; undefined for a new one. */
export async function readLostWork(deps: RecoveryDeps, began: CountersBefore | undefined): Promise<LostWork> {
  for (let tries = 1; ; tries++) {
    const { work, mined } = await readOnce(deps, began);
    const stands = (await deps.chain.block(work.headBlock))?.hash === work.headHash;
    if (stands && !(await isOvertaken(deps, { block: work.headBlock, mined }))) return work;
    if (tries === TRIES)
      throw new PreconditionError(
        problemOf('E_RECOVERY_WAITS', {
          message: 'the chain went on with our transactions, or was reorganised, each time it was read',
        }),
      );
    await deps.sleep(TRY_AGAIN_MS);
  }
}

/** Whether a block took what waited between the reading of the blocks and that of the pools: neither has shown it. */
async function isOvertaken(
  { history }: RecoveryDeps,
  { block, mined }: { block: number; mined: ReadonlyMap<Hex, number> },
): Promise<boolean> {
  for (const [account, now] of mined)
    if (now > 0 && now > (await history.nonceAt(account, block))) return true;
  return false;
}

async function readOnce(
  deps: RecoveryDeps,
  began: CountersBefore | undefined,
): Promise<{ work: LostWork; mined: ReadonlyMap<Hex, number> }> {
  const { database, chain, history, facts } = deps;
  const { db } = database;
  const head = await chain.block('latest');
  if (!head) throw new PreconditionError(problemOf('E_START_RPC', { message: 'the node has no block' }));
  const counters = began ?? (await readCounters(db));
  const agreedBlock = await newestAgreed(deps);
  const gasWallets = await gasWalletsBeyond(deps, counters.gas_wallet_index);
  const named = await ourAccounts(deps, gasWallets);
  const from = agreedBlock === null ? facts.deploymentBlock : agreedBlock + 1;
  const { transactions, activities, accounts } = await readBlocks(deps, {
    from,
    to: head.number,
    accounts: named,
  });
  const behindBlocks = new Map<Hex, number>();
  for (const { lane, nonce } of transactions) behindBlocks.set(lane, nonce + 1);
  const { waiting, pendingUnknown, mined } = await readPools(deps, {
    accounts,
    nextOf: async (account) => Math.max((await nextNonce(db, account)) ?? 0, behindBlocks.get(account) ?? 0),
    hashesFrom: async (account, nonce) => [
      ...transactions.filter(({ lane }) => lane === account),
      ...(await attemptsFrom(db, { lane: account, nonce })),
    ],
  });
  const all = [...transactions, ...waiting];
  const earlier = (await everyRecovery(db)).map(({ beganWith }) => beganWith.wallet_index);
  const starts = new Set([...earlier, counters.wallet_index]);
  const derived = walletsBeyond(deps, { starts: [...starts], paid: recipientsOf(all) });
  const beyond = await paidAheadOfLedger(history, { db, block: head.number });
  const work: LostWork = {
    agreedBlock,
    headBlock: head.number,
    headHash: head.hash,
    transactions: all,
    activities,
    pendingUnknown,
    paidAheadOfLedger: beyond?.sequence,
    unused: {
      reward_sequence: await firstUnpaid(deps, { found: all, block: head.number }),
      wallet_index: Math.max(counters.wallet_index - 1, ...derived.values()) + 1 + WALLETS_GAP,
      gas_wallet_index: counters.gas_wallet_index + gasWallets.highest + 1,
    },
    derived,
    gasWallets: gasWallets.addresses,
    perks: await perksOf(deps, { found: all, block: head.number }),
  };
  return { work, mined };
}

/** The newest block that the ledger has read and the chain still has; null where it has read none. */
async function newestAgreed({ database, chain, facts, settings }: RecoveryDeps): Promise<number | null> {
  const read = await recentBlocks(database.db, settings.finalityBlocks + 1);
  for (const { number, hash } of read) if ((await chain.block(number))?.hash === hash) return number;
  const [newest] = read;
  // A ledger so young that all it has read may have been taken back.
  if (!newest || read.some(({ number }) => number <= facts.deploymentBlock)) return null;
  throw new PreconditionError(
    problemOf('E_PROD_WRONG_CHAIN', {
      message: `the chain has none of the blocks that this ledger read last, up to ${newest.number}`,
    }),
  );
}

async function ourAccounts(
  { database, ownAccounts }: RecoveryDeps,
  gasWallets: { addresses: Hex[] },
): Promise<Hex[]> {
  const { db } = database;
  const all = [
    ...(await everyLane(db)).map(({ address }) => address),
    ...(await everySender(db)).map(({ lane }) => lane),
    ...(await listGasWallets(db)).map(({ address }) => address),
    ...ownAccounts,
    ...gasWallets.addresses,
  ];
  // The first spelling is the ledger's own.
  return [...new Map(all.toReversed().map((one) => [one.toLowerCase(), one])).values()].toReversed();
}

/** Gas wallets that the ledger has not given out and that have sent something; `highest`: the place of the last, or -1. */
async function gasWalletsBeyond(
  { chain, gasWalletAt }: RecoveryDeps,
  first: number,
): Promise<{ addresses: Hex[]; highest: number }> {
  const addresses: Hex[] = [];
  let highest = -1;
  for (let place = 0; gasWalletAt && place <= highest + GAS_WALLETS_GAP; place++) {
    const address = gasWalletAt(first + place);
    const isUsed = (await chain.nonce(address, 'pending')) > 0 || (await chain.balanceWei(address)) > 0n;
    if (!isUsed) continue;
    addresses.push(address);
    highest = place;
  }
  return { addresses, highest };
}

const recipientsOf = (found: FoundTransaction[]): Set<Hex> =>
  new Set(
    found.flatMap(({ call }) => {
      if (call.kind === 'payout') return call.entries.map(({ to }) => to);
      if (call.kind === 'redeem') return call.wallet;
      return call.kind === 'mint' && call.into === 'wallet' ? call.recipient : [];
    }),
  );

/**
 * The places in the users' key tree whose addresses were paid, from the ledger's next on, and from where earlier recoveries
 * began: what a wallet that those left out was paid by may have come into a block only since.
 */
function walletsBeyond(
  { wallets }: Pick<RecoveryDeps, 'wallets'>,
  { starts, paid }: { starts: readonly number[]; paid: ReadonlySet<Hex> },
): Map<Hex, number> {
  const derived = new Map<Hex, number>();
  for (const first of starts) {
    for (let index = first, end = first + WALLETS_GAP; index < end; index++) {
      const address = wallets.addressAt(index).toLowerCase() as Hex;
      if (!paid.has(address)) continue;
      derived.set(address, index);
      end = index + WALLETS_GAP;
    }
  }
  return derived;
}

/** Read here, since no commit may wait for a node. */
async function perksOf(
  { history }: RecoveryDeps,
  { found, block }: { found: FoundTransaction[]; block: number },
): Promise<LostWork['perks']> {
  const perks: LostWork['perks'] = new Map();
  for (const { call } of found) {
    if (call.kind !== 'redeem' && call.kind !== 'perk_terms') continue;
    const tokenId = call.kind === 'redeem' ? call.tokenId : call.terms.tokenId;
    if (!perks.has(tokenId)) perks.set(tokenId, await history.perkAt(tokenId, block));
  }
  return perks;
}

/** The first sequence behind all that were paid or are on their way, with room for what no node shows. */
async function firstUnpaid(
  { database, history }: RecoveryDeps,
  { found, block }: { found: FoundTransaction[]; block: number },
): Promise<number> {
  const next = await nextSequence(database.db);
  let highest = next - 1;
  for (const { call } of found) {
    if (call.kind !== 'payout') continue;
    for (const { sequence } of call.entries) highest = Math.max(highest, Number(sequence));
  }
  // What the escrow marks as paid counts as well, whatever its calldata was.
  for (let word = Math.floor((highest + 1) / BITS); (await history.paidWord(word, block)) !== 0n; word++)
    highest = Math.max(highest, (word + 1) * BITS - 1);
  return highest + 1 + SEQUENCES_LEFT_OUT;
}
