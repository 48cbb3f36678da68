/** The logs that the contracts would have written, as the JSON of a node: text is made some ten times as fast as objects are. */
import { encodeEventTopics, type Hex, numberToHex } from 'viem';
import { businessEscrowAbi, pointsSaleAbi, rewardTokenAbi } from '../../src/chain/contracts/abis.ts';
import type { PayoutEntry } from '../../src/chain/contracts/payout-batch.ts';
import { blockHash, brandIds, contracts, DEPOSIT, depositHash } from './history.ts';

const topicOf = (
  abi: typeof businessEscrowAbi | typeof pointsSaleAbi | typeof rewardTokenAbi,
  eventName: string,
) => encodeEventTopics({ abi, eventName } as Parameters<typeof encodeEventTopics>[0])[0] as Hex;
const TRANSFER = topicOf(rewardTokenAbi, 'Transfer');
const DISTRIBUTED = topicOf(businessEscrowAbi, 'Distributed');
const DEPOSITED = topicOf(businessEscrowAbi, 'Deposited');
const MINTED = topicOf(pointsSaleAbi, 'MintedIntoEscrow');

const word = (value: bigint | number) => value.toString(16).padStart(64, '0');
const padded = (address: string) => `0x${address.slice(2).padStart(64, '0')}`;
const NOBODY = padded('0x');

type Place = { hash: Hex; block: number };

function log(
  of: { address: Hex; topics: string[]; data: string; index: number },
  { hash, block }: Place,
): string {
  const topics = of.topics.map((topic) => `"${topic}"`).join(',');
  return `{"address":"${of.address}","topics":[${topics}],"data":"${of.data}","blockHash":"${blockHash(block)}","blockNumber":"${numberToHex(block)}","blockTimestamp":"0x6923f0a0","transactionHash":"${hash}","transactionIndex":"0x0","logIndex":"0x${of.index.toString(16)}","removed":false}`;
}

/** Of a batch that was paid in full: those of the token, or those of escrow and sale. */
export function* payoutLogs(
  of: Place & { entries: readonly PayoutEntry[] },
  kind: 'token' | 'others',
): Generator<string> {
  const { entries } = of;
  const total = entries.reduce((sum, { amount }) => sum + amount, 0n);
  const base = Math.min(...entries.map(({ sequence }) => Number(sequence)));
  if (kind === 'others') {
    const data = `0x${word(entries.length)}${word(total)}`;
    yield log({ address: contracts.escrow, topics: [DISTRIBUTED, `0x${word(base)}`], data, index: 0 }, of);
    return;
  }
  const from = padded(contracts.escrow);
  for (const [place, { to, amount }] of entries.entries()) {
    const topics = [TRANSFER, from, padded(to)];
    yield log({ address: contracts.token, topics, data: `0x${word(amount)}`, index: place + 1 }, of);
  }
}

/** Of the mints that fill the brands' escrow. */
export function* depositLogs(block: number, kind: 'token' | 'others'): Generator<string> {
  for (const [place, brandId] of brandIds.entries()) {
    const at = { hash: depositHash(place), block };
    const data = `0x${word(DEPOSIT)}`;
    const brand = padded(brandId);
    const sale = padded(contracts.pointsSale);
    const { token, escrow, pointsSale } = contracts;
    if (kind === 'token') {
      yield log({ address: token, topics: [TRANSFER, NOBODY, sale], data, index: place * 4 + 1 }, at);
      continue;
    }
    yield log(
      { address: pointsSale, topics: [MINTED, depositHash(place), brand], data, index: place * 4 },
      at,
    );
    yield log({ address: escrow, topics: [DEPOSITED, brand, sale], data, index: place * 4 + 2 }, at);
  }
}
