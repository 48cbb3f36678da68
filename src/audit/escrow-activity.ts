/** Decodes the logs of escrow, sale and token by hand: a comparison reads millions of them, and general decoding hashes signatures each time. */
import { type Hex, hexToNumber, toEventSelector } from 'viem';
import { businessEscrowAbi, perkNFTAbi, pointsSaleAbi, rewardTokenAbi } from '../chain/contracts/abis.ts';
import { skipReasons } from '../chain/contracts/payout-batch.ts';

/** What one transaction did to brands' money. Amounts are whole RWT, addresses lower case. */
export interface EscrowActivity {
  transactionHash: Hex;
  blockNumber: number;
  blockHash: Hex;
  /** Each run of `distribute`: what the escrow says it paid. */
  distributed: { count: number; total: bigint }[];
  skipped: { sequence: number; reason: string }[];
  movements: {
    kind: 'deposit' | 'withdrawal' | 'redemption';
    brandId: Hex;
    amount: bigint;
    logIndex: number;
  }[];
  redeemed: { key: Hex; brandId: Hex; user: Hex; amount: bigint }[];
  /** RWT that was collected without its holder's allowance; tokens of earlier versions do not say so. */
  withoutAllowance: { user: Hex; amount: bigint }[];
  /** RWT that left the escrow, in order. */
  transfers: { to: Hex; amount: bigint }[];
  /** RWT that was minted, and the mints of the sale with their keys. */
  minted: bigint;
  sales: { key: Hex; to: Hex; intoEscrow: boolean; amount: bigint }[];
  /** What became of perks, in order: one was sold, or the contract was told of its terms. */
  perks: { tokenId: number; isSale: boolean }[];
}

/** A log as nodes write it. */
export interface RpcLog {
  address: Hex;
  topics: [Hex, ...Hex[]];
  data: Hex;
  logIndex: Hex;
  blockNumber: Hex;
  blockHash: Hex;
  transactionHash: Hex;
}

type Note = (activity: EscrowActivity, log: RpcLog) => void;

/** The address in a topic, lower case. */
const address = (topic: Hex | undefined): Hex => `0x${(topic ?? '').slice(-40).toLowerCase()}`;
/** The number in a word of the data. */
const word = ({ data }: RpcLog, place: number): bigint =>
  BigInt(`0x${data.slice(2 + place * 64, 66 + place * 64) || '0'}`);
const NOBODY = `0x${'0'.repeat(40)}`;

const signatureOf = (
  abi: readonly { type: string; name?: string; inputs?: readonly { type: string }[] }[],
  name: string,
): Hex => {
  const event = abi.find((item) => item.type === 'event' && item.name === name);
  if (!event) throw new Error(`the ABI has no event ${name}`);
  return toEventSelector(`${name}(${(event.inputs ?? []).map(({ type }) => type).join(',')})`);
};

const movement =
  (kind: 'deposit' | 'withdrawal'): Note =>
  (activity, log) =>
    activity.movements.push({
      kind,
      brandId: address(log.topics[1]),
      amount: word(log, 0),
      logIndex: hexToNumber(log.logIndex),
    });

const sale =
  (intoEscrow: boolean): Note =>
  (activity, log) =>
    activity.sales.push({
      key: log.topics[1] ?? '0x',
      to: address(log.topics[2]),
      intoEscrow,
      amount: word(log, 0),
    });

const escrowNotes: Record<string, Note> = {
  Distributed: (activity, log) =>
    activity.distributed.push({ count: Number(word(log, 0)), total: word(log, 1) }),
  RewardSkipped: (activity, log) => {
    const reason = skipReasons[Number(word(log, 0)) as keyof typeof skipReasons] ?? 'skipped';
    activity.skipped.push({ sequence: hexToNumber(log.topics[1] ?? '0x0'), reason });
  },
  Deposited: movement('deposit'),
  Withdrawn: movement('withdrawal'),
  Redeemed: (activity, log) => {
    const [brandId, amount] = [address(log.topics[2]), word(log, 0)];
    const logIndex = hexToNumber(log.logIndex);
    activity.movements.push({ kind: 'redemption', brandId, amount, logIndex });
    activity.redeemed.push({ key: log.topics[1] ?? '0x', brandId, user: address(log.topics[3]), amount });
  },
};
/** `topic`: which of the event's own names the perk. */
const perk =
  (isSale: boolean, topic: number): Note =>
  (activity, log) =>
    activity.perks.push({ tokenId: hexToNumber(log.topics[topic] ?? '0x0'), isSale });
const perkNotes: Record<string, Note> = {
  PerkSet: perk(false, 1),
  PerkPurchased: perk(true, 1),
  PerkRedeemed: perk(true, 2),
};
const saleNotes: Record<string, Note> = { Minted: sale(false), MintedIntoEscrow: sale(true) };

const TRANSFER = signatureOf(rewardTokenAbi, 'Transfer');
const WITHOUT_ALLOWANCE = signatureOf(rewardTokenAbi, 'CollectedWithoutAllowance');
const byTopic = (abi: Parameters<typeof signatureOf>[0], notes: Record<string, Note>) =>
  new Map(Object.entries(notes).map(([name, note]) => [signatureOf(abi, name), note]));
const ofEscrow = byTopic(businessEscrowAbi, escrowNotes);
const ofSale = byTopic(pointsSaleAbi, saleNotes);
const ofPerks = byTopic(perkNFTAbi, perkNotes);

interface Contracts {
  token: Hex;
  escrow: Hex;
  pointsSale: Hex;
  perks: Hex;
}

/** What to ask a node for, so that strangers' transfers are not read: two filters, without their blocks. */
export function activityFilters({ token, escrow, pointsSale, perks }: Contracts) {
  const padded = (of: string) => `0x${of.slice(2).toLowerCase().padStart(64, '0')}`;
  return [
    {
      address: [escrow, pointsSale, perks, token],
      topics: [[...ofEscrow.keys(), ...ofSale.keys(), ...ofPerks.keys(), WITHOUT_ALLOWANCE]],
    },
    { address: token, topics: [TRANSFER, [padded(escrow), padded(NOBODY)]] },
  ];
}

/** Gathers logs by transaction; the order of transactions is that of their first log. */
export function createActivityReader(contracts: Contracts) {
  const token = contracts.token.toLowerCase();
  const escrow = contracts.escrow.toLowerCase();
  const pointsSale = contracts.pointsSale.toLowerCase();
  const perks = contracts.perks.toLowerCase();
  return (logs: readonly RpcLog[], into: Map<Hex, EscrowActivity>): void => {
    for (const log of logs) {
      let activity = into.get(log.transactionHash);
      if (!activity) {
        activity = emptyActivity(log);
        into.set(log.transactionHash, activity);
      }
      const from = log.address.toLowerCase();
      const [topic] = log.topics;
      if (from === escrow) ofEscrow.get(topic)?.(activity, log);
      else if (from === pointsSale) ofSale.get(topic)?.(activity, log);
      else if (from === perks) ofPerks.get(topic)?.(activity, log);
      else if (from === token && topic === TRANSFER) noteTransfer(activity, log, escrow);
      else if (from === token && topic === WITHOUT_ALLOWANCE)
        activity.withoutAllowance.push({ user: address(log.topics[1]), amount: word(log, 0) });
    }
  };
}

function noteTransfer(activity: EscrowActivity, log: RpcLog, escrow: string): void {
  const sender = address(log.topics[1]);
  const amount = word(log, 0);
  if (sender === NOBODY) activity.minted += amount;
  if (sender === escrow) activity.transfers.push({ to: address(log.topics[2]), amount });
}

const emptyActivity = ({ transactionHash, blockNumber, blockHash }: RpcLog): EscrowActivity => ({
  transactionHash,
  blockNumber: hexToNumber(blockNumber),
  blockHash,
  distributed: [],
  skipped: [],
  movements: [],
  redeemed: [],
  withoutAllowance: [],
  transfers: [],
  minted: 0n,
  sales: [],
  perks: [],
});
