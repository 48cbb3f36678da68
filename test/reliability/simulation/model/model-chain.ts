/** A chain in memory: nonces and pools of a few senders, blocks that can be taken back, and the escrow's rules. */
import { decodeFunctionData, type Hex, keccak256, toEventSelector } from 'viem';
import { pointsSaleAbi } from '../../../../src/chain/contracts/abis.ts';
import { decodePayoutBatch } from '../../../../src/chain/contracts/payout-batch.ts';
import { CHAIN_ID, CONTRACTS, ESCROW, PERK, REDEEM_LANE, TOKEN } from './accounts.ts';
import { type ReadTransaction, signCheaply } from './cheap-signer.ts';
import {
  buyerIn,
  collectedLog,
  type Manner,
  type ModelRedemption,
  type PerkState,
  redeem,
} from './model-perks.ts';

const STRANGER: Hex = '0x0000000000000000000000000000000000057a06';

/** A brand's own move of its RWT, sent from its own account; or a stranger's contract that writes the logs of such moves. */
export interface BrandMove {
  kind: 'deposit' | 'withdrawal' | 'forgery';
  brandId: Hex;
  amount: number;
  hash: Hex;
}
/** What happens to perks and RWT past the service: somebody buys one, or a user sends RWT away. */
export interface UserMove {
  kind: 'sale' | 'transfer';
  wallet: Hex;
  amount: number;
  hash: Hex;
}
type Entry = { transaction: ReadTransaction } | { move: BrandMove | UserMove };

/** One reward as the escrow paid it. */
export interface Payment {
  sequence: number;
  brandId: Hex;
  to: Hex;
  amount: number;
}

/** One call of the sale; not new: its key was used before. */
export interface ModelSale {
  key: Hex;
  isNew: boolean;
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
  gasUsed: number;
  logs: ModelLog[];
}

interface State {
  /** The next nonce of each sender; of those that have sent nothing, 0. */
  nonces: ReadonlyMap<Hex, number>;
  paid: ReadonlySet<number>;
  /** Keys that the sale has used. */
  sold: ReadonlySet<Hex>;
  perks: PerkState;
  balances: ReadonlyMap<Hex, number>;
}

export interface ModelBlock {
  number: number;
  hash: Hex;
  parent: ModelBlock | undefined;
  minedAtMs: number;
  baseFeeWei: bigint;
  entries: Entry[];
  receipts: ModelReceipt[];
  payments: Payment[];
  skips: { sequence: number; reason: number }[];
  sales: ModelSale[];
  redemptions: ModelRedemption[];
  state: State;
}

export const nonceOf = ({ nonces }: State, account: Hex) => nonces.get(account) ?? 0;

type Slot = `${Hex} ${number}`;
/** A sender's nonce: one transaction at most can have it. */
export const slotOf = ({ from, nonce }: { from: Hex; nonce: number }): Slot => `${from} ${nonce}`;

/** Gas of a plain transfer; calls use more, each an amount of its own below its limit. */
const TRANSFER_GAS = 21_000;
const gasUsedBy = ({ data, gas, hash }: ReadTransaction) =>
  data === '0x'
    ? TRANSFER_GAS
    : TRANSFER_GAS + (Number.parseInt(hash.slice(-4), 16) % (Number(gas) - TRANSFER_GAS));

/** Somebody else who has the key signed it: no lane of ours sends anything to itself. */
export const isForeign = ({ from, to }: Pick<ReadTransaction, 'from' | 'to'>) => from === to;

const topic = (signature: string) => toEventSelector(signature);
const DEPOSITED = topic('Deposited(address,address,uint256)');
const WITHDRAWN = topic('Withdrawn(address,uint256)');
const SKIPPED = topic('RewardSkipped(uint256,uint8)');
const DISTRIBUTED = topic('Distributed(uint64,uint256,uint256)');
const word = (value: number | bigint): string => value.toString(16).padStart(64, '0');
const wordOf = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`;

export interface ModelChainOptions {
  now: () => number;
  /** Off: the escrow keeps no record of what it paid. */
  bitmap: boolean;
  baseFeeWei: bigint;
  /** How many of the perk there are, and who has RWT for it. */
  perks: Pick<PerkState, 'stock' | 'held'>;
  /** What the wallets of some users do. */
  manners: ReadonlyMap<Hex, Manner>;
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

/** What the sale does, without RWT in the escrow, of whose brands the model has no mints to account for. */
function saleOf(data: Hex, sold: ReadonlySet<Hex>): ModelSale {
  const { args } = decodeFunctionData({ abi: pointsSaleAbi, data });
  const [key, to, amount] = args as readonly [Hex, Hex, bigint];
  return { key, isNew: !sold.has(key), to: to.toLowerCase() as Hex, amount: Number(amount) };
}

export function createModelChain(options: ModelChainOptions) {
  let serial = 0;
  const freshHash = (): Hex => `0xb10c${(++serial).toString(16).padStart(60, '0')}`;
  const genesis: ModelBlock = {
    number: 0,
    hash: freshHash(),
    parent: undefined,
    minedAtMs: options.now(),
    baseFeeWei: options.baseFeeWei,
    entries: [],
    receipts: [],
    payments: [],
    skips: [],
    sales: [],
    redemptions: [],
    state: {
      nonces: new Map(),
      paid: new Set(),
      sold: new Set(),
      balances: new Map(),
      perks: { ...options.perks, redeemed: new Set(), allowed: new Map() },
    },
  };
  const chain = {
    head: genesis,
    /** Every head there was, for nodes that lag behind. */
    heads: [genesis],
    baseFeeWei: options.baseFeeWei,
    /** What a block may take next. */
    pool: new Map<Slot, ReadTransaction>(),
    /** Every transaction that any node was ever given. */
    seen: new Map<Hex, ReadTransaction>(),
    moves: [] as (BrandMove | UserMove)[],
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
      minedAtMs: options.now(),
      baseFeeWei: chain.baseFeeWei,
      entries: [],
      receipts: [],
      payments: [],
      skips: [],
      sales: [],
      redemptions: [],
      state,
    };
    const left: Entry[] = [];
    for (const entry of entries) {
      if ('transaction' in entry) {
        const { transaction } = entry;
        const next = nonceOf(block.state, transaction.from);
        if (transaction.nonce !== next || transaction.maxFeeWei < block.baseFeeWei) {
          if (transaction.nonce >= next) left.push(entry);
          continue;
        }
        run(block, transaction, reverts(transaction));
        chain.pool.delete(slotOf(transaction));
      } else if (!move(block, entry.move)) continue;
      block.entries.push(entry);
    }
    chain.head = block;
    chain.heads.push(block);
    for (const [slot, { from, nonce }] of chain.pool)
      if (nonce < nonceOf(block.state, from)) chain.pool.delete(slot);
    return left;
  }

  function run(block: ModelBlock, transaction: ReadTransaction, breaks: boolean) {
    const { nonces, paid, sold, perks, balances } = block.state;
    let reverted = breaks;
    let burnt = false;
    const after = {
      nonces: new Map(nonces).set(transaction.from, transaction.nonce + 1),
      paid: new Set(paid),
      sold: new Set(sold),
      perks,
      balances: new Map(balances),
    };
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
    if (!reverted && transaction.to.toLowerCase() === CONTRACTS.pointsSale) {
      const sale = saleOf(transaction.data, after.sold);
      after.sold.add(sale.key);
      block.sales.push(sale);
    }
    if (!reverted && transaction.from === REDEEM_LANE && !isForeign(transaction)) {
      const outcome = redeem(perks, transaction.data, {
        in: 'block',
        manner: options.manners.get(buyerIn(transaction.data)),
        isWithoutCode: false,
        isBehind: false,
        likes: Number.parseInt(transaction.hash.slice(-1), 16) % 2 === 0,
      });
      if ('refused' in outcome) {
        reverted = true;
        burnt = outcome.burns === true;
      } else {
        after.perks = outcome.after;
        block.redemptions.push(outcome.redemption);
        if (outcome.redemption.isNew) {
          after.balances.set(PERK.brandId, (after.balances.get(PERK.brandId) ?? 0) + PERK.cost);
          logs.push(collectedLog(outcome.redemption));
        }
      }
    }
    block.state = after;
    block.receipts.push({
      hash: transaction.hash,
      succeeded: !reverted,
      gasUsed: burnt ? Number(transaction.gas) : gasUsedBy(transaction),
      logs,
    });
  }

  function move(block: ModelBlock, one: BrandMove | UserMove): boolean {
    const receipt = { hash: one.hash, succeeded: true, gasUsed: TRANSFER_GAS };
    if ('wallet' in one) return moveOfUser(block, one, receipt);
    const { kind, brandId, amount } = one;
    if (kind === 'forgery') {
      block.receipts.push({ ...receipt, logs: forged(block, { brandId, amount }) });
      return true;
    }
    const available = block.state.balances.get(brandId) ?? 0;
    if (kind === 'withdrawal' && amount > available) return false;
    const balance = kind === 'deposit' ? available + amount : available - amount;
    const topics: Hex[] =
      kind === 'deposit' ? [DEPOSITED, wordOf(brandId), wordOf(brandId)] : [WITHDRAWN, wordOf(brandId)];
    const logs: ModelLog[] = [{ address: ESCROW, topics, data: `0x${word(amount)}` }];
    block.receipts.push({ ...receipt, logs });
    block.state = { ...block.state, balances: new Map(block.state.balances).set(brandId, balance) };
    return true;
  }

  function moveOfUser(
    block: ModelBlock,
    { kind, wallet, amount }: UserMove,
    receipt: Omit<ModelReceipt, 'logs'>,
  ) {
    const { stock, held } = block.state.perks;
    const left = kind === 'sale' ? stock - amount : (held.get(wallet) ?? 0) - amount;
    if (left < 0) return false;
    const change = kind === 'sale' ? { stock: left } : { held: new Map(held).set(wallet, left) };
    block.state = { ...block.state, perks: { ...block.state.perks, ...change } };
    block.receipts.push({ ...receipt, logs: [] });
    return true;
  }

  const pooled = (): Entry[] =>
    [...chain.pool.values()]
      .sort((one, other) => one.nonce - other.nonce)
      .map((transaction) => ({ transaction }));

  return Object.assign(chain, {
    blockAt,
    /** Hands brands' moves in; the next block takes them. */
    offerMove(of: Omit<BrandMove, 'hash'> | Omit<UserMove, 'hash'>) {
      chain.moves.push({ ...of, hash: freshHash() } as BrandMove | UserMove);
    },
    /** Somebody else who has a lane's key uses its next nonce, in a block of its own. */
    useForeign(from: Hex) {
      const nonce = nonceOf(chain.head.state, from);
      const [maxFeeWei, priorityFeeWei] = [chain.baseFeeWei * 10n, chain.baseFeeWei];
      const of = { nonce, to: from, data: '0x' as const, gas: 21_000n };
      const offer = { maxFeePerGas: maxFeeWei, maxPriorityFeePerGas: priorityFeeWei };
      const raw = signCheaply(from, { type: 'eip1559', chainId: CHAIN_ID, ...of, ...offer });
      const hash = keccak256(raw);
      append([{ transaction: { raw, hash, from, ...of, valueWei: 0n, maxFeeWei, priorityFeeWei } }]);
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
      const ours = lost.filter((entry) => 'transaction' in entry);
      const rivals = new Map<Slot, ReadTransaction>();
      for (const transaction of chain.seen.values()) {
        const rival = rivals.get(slotOf(transaction));
        if (!rival || transaction.maxFeeWei < rival.maxFeeWei) rivals.set(slotOf(transaction), transaction);
      }
      let open: Entry[] = ours;
      if (flavour === 'compete')
        open = ours.map(({ transaction }) => ({
          transaction: rivals.get(slotOf(transaction)) ?? transaction,
        }));
      if (flavour === 'drop') open = [];
      // A brand's own moves come first, or last, or not at all.
      if (flavour === 'compete') open = [...open, ...moves];
      else if (!dropMoves) open = [...moves, ...open];
      for (let n = 0; n <= depth; n += 1) open = append(open);
      for (const entry of open) {
        if ('transaction' in entry && !chain.pool.has(slotOf(entry.transaction)))
          chain.pool.set(slotOf(entry.transaction), entry.transaction);
      }
    },
    /** Transactions that no block and no pool has, and that are none of these, never come back. */
    forgetAllBut(hashes: ReadonlySet<Hex>) {
      for (const hash of chain.seen.keys()) if (!hashes.has(hash)) chain.seen.delete(hash);
      for (const [slot, { hash }] of chain.pool) if (!hashes.has(hash)) chain.pool.delete(slot);
    },
    /** What the pool would give to the next blocks: for each sender, without a gap. */
    waiting: (): ReadTransaction[] =>
      [...chain.pool.values()].filter(({ from, nonce }) => {
        for (let next = nonceOf(chain.head.state, from); next < nonce; next += 1)
          if (!chain.pool.has(slotOf({ from, nonce: next }))) return false;
        return true;
      }),
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
