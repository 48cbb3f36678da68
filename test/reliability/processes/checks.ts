/** Pure checks over what a run left behind: the chain, the ledger, what clients were told, what the node was handed. */
import { parseTransaction } from 'viem';
import type { SeenTransaction } from '../../kits/chain/rpc-proxy.ts';
import type { Evidence } from './evidence.ts';
import type { AttemptRow, RewardRow } from './ledger-reader.ts';

/** ok: status 200 · refused: a refusal that promises no payment · info: anything else; both outcomes are allowed. */
export interface ClientCall {
  user: string;
  kind: 'ok' | 'refused' | 'info';
  status?: number;
  /** What a 5xx said. */
  said?: string;
  eventId?: string;
  hash?: string;
  wallet?: string;
}

export interface RunRecord {
  evidence: Evidence;
  rewards: RewardRow[];
  attempts: AttemptRow[];
  calls: ClientCall[];
  sent: SeenTransaction[];
  /** Hashes that a node was handed while no committed row held them. */
  notWrittenAhead: string[];
}

const duplicates = <T>(values: T[]): T[] => values.filter((value, place) => values.indexOf(value) !== place);

/** Every violation in words; empty when the run was as it must be. */
export function violationsOf(run: RunRecord): string[] {
  return [
    ...noDoubles(run),
    ...noneMissing(run),
    ...clientsWereRight(run),
    ...writtenAhead(run),
    ...onePayload(run),
  ];
}

/** Rewards of different users: a sequence, and a user, is paid at most once. */
export function noDoubles({ evidence, rewards }: RunRecord): string[] {
  const bySequence = new Map(rewards.map((reward) => [reward.sequence, reward]));
  const wrong = evidence.paid.filter(({ sequence, wallet, amount }) => {
    const reward = bySequence.get(sequence);
    return reward?.wallet.toLowerCase() !== wallet || reward.amount !== amount;
  });
  const promisedTo = countBy(rewards, ({ wallet, amount }) => `${wallet.toLowerCase()} ${amount}`);
  const gotBy = countBy(evidence.transfers, ({ wallet, amount }) => `${wallet} ${amount}`);
  return [
    ...duplicates(evidence.paid.map(({ sequence }) => sequence)).map(
      (one) => `sequence ${one} was paid twice`,
    ),
    ...wrong.map(({ sequence }) => `sequence ${sequence} was paid, and the ledger has no such reward`),
    ...[...gotBy]
      .filter(([key, count]) => count > (promisedTo.get(key) ?? 0))
      .map(([key, count]) => `${count} transfers of ${key}, promised ${promisedTo.get(key) ?? 0}`),
    ...(evidence.paid.length === evidence.transfers.length
      ? []
      : [`${evidence.transfers.length} transfers for ${evidence.paid.length} paid rewards`]),
  ];
}

export function noneMissing({ evidence, rewards }: RunRecord): string[] {
  const paid = new Set(evidence.paid.map(({ sequence }) => sequence));
  return rewards.flatMap(({ sequence, failure, wallet }) => {
    if (failure === null && !paid.has(sequence)) return [`sequence ${sequence} of ${wallet} was never paid`];
    if (failure !== null && paid.has(sequence))
      return [`sequence ${sequence} failed (${failure}) and was paid`];
    return [];
  });
}

/** Who was told of a reward has it, under a hash that is one of its transaction's. */
export function clientsWereRight({ calls, rewards, attempts, evidence }: RunRecord): string[] {
  const byId = new Map(rewards.map((reward) => [reward.id, reward]));
  const paid = new Set(evidence.paid.map(({ sequence }) => sequence));
  const rewardsOf = countBy(
    rewards.filter(({ failure }) => failure === null),
    ({ userKey }) => userKey,
  );
  const wrong = calls.flatMap(({ kind, eventId = '', hash, user }) => {
    if (kind !== 'ok') return [];
    const reward = byId.get(eventId);
    if (!reward) return [`${user} was told of ${eventId}, which is not in the ledger`];
    if (!paid.has(reward.sequence)) return [`${user} was told of ${eventId}, which was not paid`];
    const known = attempts.some((one) => one.hash === hash);
    return known ? [] : [`${user} was told the hash ${hash}, which is not in the ledger`];
  });
  const toldTwice = countBy(
    calls.filter(({ kind }) => kind === 'ok'),
    ({ user }) => user,
  );
  return [
    ...wrong,
    ...[...rewardsOf].filter(([, count]) => count > 1).map(([user, count]) => `${user} has ${count} rewards`),
    ...[...toldTwice]
      .filter(([user]) => duplicateIds(calls, user))
      .map(([user]) => `${user} was told of two different rewards`),
  ];
}

const duplicateIds = (calls: ClientCall[], user: string) =>
  new Set(calls.filter((call) => call.kind === 'ok' && call.user === user).map(({ eventId }) => eventId))
    .size > 1;

/** No node ever had bytes that the ledger did not have before. */
export const writtenAhead = ({ notWrittenAhead }: RunRecord): string[] =>
  notWrittenAhead.map((hash) => `${hash} was handed to a node before it was stored`);

/** Whatever was handed in under one nonce did the same, or nothing at all after a recorded decision. */
export function onePayload({ sent, attempts, evidence }: RunRecord): string[] {
  const stored = new Map(attempts.map((attempt) => [attempt.hash, attempt]));
  const payloads = new Map<number, Set<string>>();
  for (const { hash, raw } of sent) {
    const attempt = stored.get(hash);
    if (!attempt || attempt.kind === 'noop') continue;
    const { to, data, value } = parseTransaction(raw);
    const known = payloads.get(attempt.nonce) ?? new Set();
    payloads.set(attempt.nonce, known.add(`${to} ${value ?? 0} ${data}`));
  }
  const nonces = evidence.lane.map(({ nonce }) => nonce).sort((a, b) => a - b);
  return [
    ...[...payloads].filter(([, of]) => of.size > 1).map(([nonce]) => `nonce ${nonce} had several payloads`),
    ...duplicates(nonces).map((nonce) => `nonce ${nonce} is on the chain twice`),
    ...evidence.lane
      .filter(({ hash }) => !stored.has(hash))
      .map(({ hash }) => `${hash} is on the chain and not in the ledger`),
  ];
}

function countBy<T>(values: T[], keyOf: (value: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(keyOf(value), (counts.get(keyOf(value)) ?? 0) + 1);
  return counts;
}
