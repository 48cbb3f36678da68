/** Judges nonces: without gaps in each lane, each with one payload, and each reward under one. */
import { parseTransaction } from 'viem';
import { PAYOUT_LANE } from '../model/accounts.ts';
import { isForeign, type ModelBlock, slotOf } from '../model/model-chain.ts';
import type { World } from '../world.ts';
import { type AttemptRow, type Evidence, sequencesIn } from './checks.ts';

export async function checkNonces(world: World, { attempts, blocks }: Evidence): Promise<void> {
  const { findings, taken } = world;
  for (const lane of new Set(attempts.map((one) => one.lane))) {
    const nonces = [...new Set(attempts.flatMap((one) => (one.lane === lane ? one.nonce : [])))];
    if (nonces.some((nonce, place) => nonce !== place)) findings.add('nonces without gaps', nonces.join(' '));
  }

  const payloads = new Map<string, string>();
  let before: AttemptRow | undefined;
  let earlier: AttemptRow[] = [];
  for (const one of attempts) {
    if (before?.transaction_id !== one.transaction_id) earlier = [];
    const { to, data, value } = parseTransaction(one.raw);
    const payload = `${to} ${data} ${value}`;
    const slot = slotOf({ from: one.lane, nonce: one.nonce });
    // What somebody else has sent under a nonce of ours, a recovery keeps beside what was to be sent.
    const isOthers = to?.toLowerCase() === one.lane;
    if (!isOthers && (payloads.get(slot) ?? payload) !== payload)
      findings.add('one payload a nonce', `nonce ${one.nonce} has two payloads`);
    if (!isOthers) payloads.set(slot, payload);
    if (before?.transaction_id === one.transaction_id && !world.lostOffers.has(one.hash)) {
      const more = (now: string, then: string) => BigInt(now) * 8n >= BigInt(then) * 9n;
      const enough =
        more(one.max_fee_wei, before.max_fee_wei) && more(one.priority_fee_wei, before.priority_fee_wei);
      // Less may be offered once every node has refused all that was stored before.
      const wasTaken = earlier.some(
        ({ hash }) => (taken.get(hash) ?? Number.POSITIVE_INFINITY) <= one.attempt,
      );
      if (!enough && wasTaken)
        findings.add('replacements offer enough', `nonce ${one.nonce}, attempt ${one.attempt}`);
    }
    // One whose commit was lost was found in a block: those after it were made without it.
    if (world.lostOffers.has(one.hash)) continue;
    earlier.push(one);
    before = one;
  }

  await checkRewardNonces(world, blocks);
}

async function checkRewardNonces({ findings, sent, ledger }: World, blocks: ModelBlock[]): Promise<void> {
  // Nonces under which nothing of ours happened.
  const reverted = new Set<number>();
  for (const { entries, receipts } of blocks) {
    for (const [place, entry] of entries.entries())
      if (
        'transaction' in entry &&
        entry.transaction.from === PAYOUT_LANE &&
        (isForeign(entry.transaction) || receipts[place]?.succeeded === false)
      )
        reverted.add(entry.transaction.nonce);
  }
  const under = new Map<number, number>();
  const payouts = [...sent.values()].flatMap(([first]) => (first?.from === PAYOUT_LANE ? first : []));
  for (const { nonce, data } of payouts.sort((one, other) => one.nonce - other.nonce)) {
    for (const sequence of sequencesIn(data)) {
      const earlier = under.get(sequence);
      if (earlier !== undefined && !reverted.has(earlier))
        findings.add('one nonce a reward', `sequence ${sequence} is under ${earlier} and ${nonce}`);
      under.set(sequence, nonce);
    }
  }
  const left = await ledger.rows<{ sequence: number; status: string; outcome: string }>(
    'select * from sim_bindings',
  );
  for (const { sequence, status, outcome } of left) {
    if (status !== 'final' || outcome === 'done')
      findings.add(
        'one nonce a reward',
        `sequence ${sequence} left a transaction that was ${status}, ${outcome}`,
      );
  }
}
