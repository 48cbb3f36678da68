/** A chain in memory: one sender's nonces and pool, blocks that can be taken back, and the escrow's rules. */
import { type Hex, toEventSelector } from 'viem';
import { decodePayoutBatch } from '../../../src/chain/contracts/payout-batch.ts';
import type { ReadTransaction } from './cheap-signer.ts';

export const ESCROW: Hex = '0x00000000000000000000000000000000000e5c20';
const STRANGER: Hex = '0x0000000000000000000000000000000000057a06';
export const TOKEN: Hex = '0x0000000000000000000000000000000000070ce2';

/** A brand's own move of its RWT, sent from its own account; or a stranger's contract that writes the logs of such moves. */
export interface BrandMove {
  kind: 'deposit' | 'withdrawal' | 'forgery';
  brandId: Hex;
  amount: number;
  hash: Hex;
}
type Entry = { payout: ReadTransaction } | { move: BrandMove };

/** One reward as the escrow paid it. */
export interface Payment {
  sequence: number;
  brandId: Hex;
  to: Hex;
  amount: number;
}

export interface ModelLog {
  address: Hex;
  topics: Hex[];
  data: Hex;
}
export interface ModelReceipt {
  hash: Hex;
  succeeded: boolean;
  logs: ModelLog[];
}

interface State {
  nonce: number;
  paid: ReadonlySet<number>;
  balances: ReadonlyMap<Hex, number>;
}

export interface ModelBlock {
  number: number;
  hash: Hex;
  parent: ModelBlock | undefined;
  baseFeeWei: bigint;
  entries: Entry[];
  receipts: ModelReceipt[];
  payments: Payment[];
  skips: { sequence: number; reason: number }[];
  state: State;
}

const topic = (signature: string) => toEventSelector(signature);
const DEPOSITED = topic('Deposited(address,address,uint256)');
const WITHDRAWN = topic('Withdrawn(address,uint256)');
const SKIPPED = topic('RewardSkipped(uint256,uint8)');
const DISTRIBUTED = topic('Distributed(uint64,uint256,uint256)');
const word = (value: number | bigint): string => value.toString(16).padStart(64, '0');
const wordOf = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`;

export interface ModelChainOptions {
  /** Off: the escrow keeps no record of what it paid. */
  bitmap: boolean;
  baseFeeWei: bigint;
}

/** What the escrow would write about a deposit and a withdrawal, and about the refusal of what was paid last. */
function forged(
  { state }: ModelBlock,
  { brandId, amount }: Pick<BrandMove, 'brandId' | 'amount'>,
): ModelLog[] {
  const address = STRANGER;
  const data: Hex = `0x${word(amount)}`;
  const skipped: ModelLog[] = [...state.paid].slice(-1).map((sequence) => ({
    address,
    topics: [SKIPPED, `0x${word(sequence)}`],
    data: `0x${word(5)}`,
  }));
  return [
    { address, topics: [DEPOSITED, wordOf(brandId), wordOf(brandId)], data },
    { address, topics: [DEPOSITED, wordOf(brandId), wordOf(brandId)], data },
    { address, topics: [WITHDRAWN, wordOf(brandId)], data },
    ...skipped,
  ];
}

export function createModelChain(options: ModelChainOptions) {
  let serial = 0;
  const freshHash = (): Hex => `0xb10c${(++serial).toString(16).padStart(60, '0')}`;
  const genesis: ModelBlock = {
    number: 0,
    hash: freshHash(),
    parent: undefined,
    baseFeeWei: options.baseFeeWei,
    entries: [],
    receipts: [],
    payments: [],
    skips: [],
    state: { nonce: 0, paid: new Set(), balances: new Map() },
  };
  const chain = {
    head: genesis,
    /** Every head there was, for nodes that lag behind. */
    heads: [genesis],
    baseFeeWei: options.baseFeeWei,
    /** By nonce: what a block may take next. */
    pool: new Map<number, ReadTransaction>(),
    /** Every transaction that any node was ever given. */
    seen: new Map<Hex, ReadTransaction>(),
    moves: [] as BrandMove[],
  };

  const blockAt = (number: number, from = chain.head): ModelBlock | undefined => {
    let block: ModelBlock | undefined = from;
    while (block && block.number > number) block = block.parent;
    return block?.number === number ? block : undefined;
  };

  /** Adds a block of these entries, as far as they may run on top of the head; returns those that were not. */
  function append(entries: Entry[], reverts: (transaction: ReadTransaction) => boolean = () => false) {
    const { state } = chain.head;
    const block: ModelBlock = {
      number: chain.head.number + 1,
      hash: freshHash(),
      parent: chain.head,
      baseFeeWei: chain.baseFeeWei,
      entries: [],
      receipts: [],
      payments: [],
      skips: [],
      state,
    };
    const left: Entry[] = [];
    for (const entry of entries) {
      if ('payout' in entry) {
        const { payout } = entry;
        if (payout.nonce !== block.state.nonce || payout.maxFeeWei < block.baseFeeWei) {
          if (payout.nonce >= block.state.nonce) left.push(entry);
          continue;
        }
        run(block, payout, reverts(payout));
        chain.pool.delete(payout.nonce);
      } else if (!move(block, entry.move)) continue;
      block.entries.push(entry);
    }
    chain.head = block;
    chain.heads.push(block);
    for (const nonce of chain.pool.keys()) if (nonce < block.state.nonce) chain.pool.delete(nonce);
    return left;
  }

  function run(block: ModelBlock, transaction: ReadTransaction, reverted: boolean) {
    const { nonce, paid, balances } = block.state;
    const after = { nonce: nonce + 1, paid: new Set(paid), balances: new Map(balances) };
    const logs: ModelLog[] = [];
    if (!reverted && transaction.to.toLowerCase() === ESCROW) {
      let total = 0;
      const payments = block.payments.length;
      for (const entry of decodePayoutBatch(transaction.data)) {
        const { brandId, to } = entry;
        const [sequence, amount] = [Number(entry.sequence), Number(entry.amount)];
        const available = after.balances.get(brandId) ?? 0;
        const reason =
          after.paid.has(sequence) && options.bitmap
            ? 1
            : to === ESCROW || to === TOKEN
              ? 3
              : amount === 0
                ? 4
                : amount > available
                  ? 5
                  : 0;
        if (reason !== 0) {
          block.skips.push({ sequence, reason });
          logs.push({ address: ESCROW, topics: [SKIPPED, `0x${word(sequence)}`], data: `0x${word(reason)}` });
          continue;
        }
        after.paid.add(sequence);
        after.balances.set(brandId, available - amount);
        block.payments.push({ sequence, brandId, to, amount });
        total += amount;
      }
      const count = block.payments.length - payments;
      logs.push({
        address: ESCROW,
        topics: [DISTRIBUTED, `0x${word(0)}`],
        data: `0x${word(count)}${word(total)}`,
      });
    }
    block.state = after;
    block.receipts.push({ hash: transaction.hash, succeeded: !reverted, logs });
  }

  function move(block: ModelBlock, { kind, brandId, amount, hash }: BrandMove): boolean {
    if (kind === 'forgery') {
      block.receipts.push({ hash, succeeded: true, logs: forged(block, { brandId, amount }) });
      return true;
    }
    const available = block.state.balances.get(brandId) ?? 0;
    if (kind === 'withdrawal' && amount > available) return false;
    const balance = kind === 'deposit' ? available + amount : available - amount;
    const topics: Hex[] =
      kind === 'deposit' ? [DEPOSITED, wordOf(brandId), wordOf(brandId)] : [WITHDRAWN, wordOf(brandId)];
    const logs: ModelLog[] = [{ address: ESCROW, topics, data: `0x${word(amount)}` }];
    block.receipts.push({ hash, succeeded: true, logs });
    block.state = { ...block.state, balances: new Map(block.state.balances).set(brandId, balance) };
    return true;
  }

  const pooled = (): Entry[] =>
    [...chain.pool.values()].sort((one, other) => one.nonce - other.nonce).map((payout) => ({ payout }));

  return Object.assign(chain, {
    blockAt,
    /** Hands brands' moves in; the next block takes them. */
    offerMove(of: Omit<BrandMove, 'hash'>) {
      chain.moves.push({ ...of, hash: freshHash() });
    },
    /** Somebody else who has the lane's key uses its next nonce, in a block of its own. */
    useForeign(from: Hex) {
      const hash = freshHash();
      const nonce = chain.head.state.nonce;
      const [maxFeeWei, priorityFeeWei] = [chain.baseFeeWei * 10n, chain.baseFeeWei];
      const of = { raw: hash, hash, from, nonce, to: from, data: '0x' as const, valueWei: 0n, gas: 21_000n };
      append([{ payout: { ...of, maxFeeWei, priorityFeeWei } }]);
    },
    /** A new block of what the pool holds; `takes` 0 leaves the pool's transactions where they are. */
    mine({ takes = Number.POSITIVE_INFINITY, reverts = () => false }: MineOptions = {}) {
      const moves: Entry[] = chain.moves.splice(0).map((one) => ({ move: one }));
      append([...moves, ...pooled().slice(0, takes)], reverts);
    },
    /**
     * Takes `depth` blocks back and puts one more in their place. What they held is dropped, taken into the new
     * blocks again, or replaced there by another transaction of the same nonce that some node has seen.
     * `dropMoves`: brands' own moves are dropped too, and never come back.
     */
    reorganize({
      depth,
      flavour,
      dropMoves,
    }: {
      depth: number;
      flavour: 'drop' | 'again' | 'compete';
      dropMoves: boolean;
    }) {
      const fork = blockAt(chain.head.number - depth);
      if (!fork || depth < 1) return;
      const lost: Entry[] = [];
      for (let block = chain.head; block !== fork && block.parent; block = block.parent)
        lost.unshift(...block.entries);
      chain.head = fork;
      const moves = lost.filter((entry) => 'move' in entry);
      const payouts = lost.filter((entry) => 'payout' in entry);
      const rivals = new Map<number, ReadTransaction>();
      for (const transaction of chain.seen.values()) {
        const rival = rivals.get(transaction.nonce);
        if (!rival || transaction.maxFeeWei < rival.maxFeeWei) rivals.set(transaction.nonce, transaction);
      }
      let open: Entry[] = payouts;
      if (flavour === 'compete')
        open = payouts.map((entry) => ({ payout: rivals.get(entry.payout.nonce) ?? entry.payout }));
      if (flavour === 'drop') open = [];
      // A brand's own moves come first, or last, or not at all.
      if (flavour === 'compete') open = [...open, ...moves];
      else if (!dropMoves) open = [...moves, ...open];
      for (let n = 0; n <= depth; n += 1) open = append(open);
      for (const entry of open) {
        if ('payout' in entry && !chain.pool.has(entry.payout.nonce))
          chain.pool.set(entry.payout.nonce, entry.payout);
      }
    },
    /** Every block from the first to the head. */
    canonical(): ModelBlock[] {
      const blocks: ModelBlock[] = [];
      for (let block: ModelBlock | undefined = chain.head; block; block = block.parent) blocks.unshift(block);
      return blocks;
    },
  });
}

export interface MineOptions {
  takes?: number;
  reverts?: (transaction: ReadTransaction) => boolean;
}
export type ModelChain = ReturnType<typeof createModelChain>;
