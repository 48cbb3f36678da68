/** Judges mints by the chain: each session once, with its own amount, under one nonce, and none that nobody asked for. */
import type { Hex } from 'viem';
import { sessionMint, sessionMintData } from '../minting.ts';
import { MINT_LANE } from '../model/accounts.ts';
import { isForeign, slotOf } from '../model/model-chain.ts';
import type { World } from '../world.ts';
import type { Evidence } from './checks.ts';

interface MintRow {
  session_id: string;
  transaction_id: string | null;
  failed_tries: number;
  failure: string | null;
}

export async function checkMints(world: World, evidence: Evidence, ended: boolean): Promise<void> {
  const { plan, findings, ledger, mintRequests } = world;
  if (plan.mints === 0) return;
  const sessions = Array.from({ length: plan.mints }, (_, number) => ({ ...sessionMint(number), number }));
  const rows = new Map(
    (await ledger.rows<MintRow>('select * from mints')).map((row) => [row.session_id, row]),
  );
  // Of a mint that was recovered it may be known only that somebody asked for it.
  for (const row of await ledger.rows<MintRow & { key: Hex }>(
    'select key, transaction_id, failed_tries, failure from operator_mints',
  )) {
    const session = sessions.find(({ key }) => key === row.key)?.sessionId;
    if (session === undefined) findings.add('no mint without its payment', `${row.key} is of no session`);
    else if (rows.has(session)) findings.add('no payment minted twice', `${session} has two mints`);
    else rows.set(session, row);
  }
  const without = checkSent(world, evidence);
  const minted = new Set<string>();
  for (const { sales } of evidence.blocks) {
    for (const { key, isNew, to, amount } of sales) {
      const session = sessions.find((one) => one.key === key);
      const recipient = session?.kind === 'escrow' ? session.brandId : session?.wallet;
      const isWanted = session && rows.has(session.sessionId);
      if (!isWanted || recipient?.toLowerCase() !== to || session?.rwtAmount !== amount)
        findings.add('no mint without its payment', `${amount} RWT to ${to}`);
      if (!isNew) findings.add('one nonce a mint', `${session?.sessionId} was to be minted again`);
      else if (minted.has(key)) findings.add('no payment minted twice', session?.sessionId ?? key);
      else minted.add(key);
    }
  }
  for (const { key, sessionId, number } of sessions) {
    const row = rows.get(sessionId);
    if (row?.failure && minted.has(key))
      findings.add('no payment minted twice', `${sessionId} was given up (${row.failure}) and is minted`);
    if (!ended || !row) continue;
    if (row.failure === null && !minted.has(key))
      findings.add('no payment without its mint', `${sessionId} is not minted`);
    if (row.failure !== null && (without.get(sessionMintData(number)) ?? 0) < 5)
      findings.add('no payment without its mint', `${sessionId} was given up: ${row.failure}`);
  }
  const left = await ledger.rows<{ session_id: string; status: string; outcome: string }>(
    'select * from sim_mint_bindings',
  );
  for (const { session_id, status, outcome } of left)
    if (status !== 'final' || outcome === 'done')
      findings.add('one nonce a mint', `${session_id} left a transaction that was ${status}, ${outcome}`);
  for (const { told, session } of mintRequests) {
    const attempt = evidence.attempts.find(({ hash }) => hash === told);
    const row = rows.get(sessionMint(session).sessionId);
    const isLost = told !== undefined && world.lost.hashes.has(told);
    if (told !== undefined && !isLost && (!attempt || attempt.transaction_id !== row?.transaction_id))
      findings.add('no answer without its mint', `a caller was told of ${told}`);
  }
}

/** Each mint is under one nonce, unless a block shows that nothing of ours happened there; how often that was so, by its data. */
function checkSent({ findings, sent }: World, { blocks }: Evidence): Map<string, number> {
  const empty = new Set<string>();
  for (const { entries, receipts } of blocks)
    for (const [place, entry] of entries.entries())
      if (
        'transaction' in entry &&
        entry.transaction.from === MINT_LANE &&
        (isForeign(entry.transaction) || receipts[place]?.succeeded === false)
      )
        empty.add(slotOf(entry.transaction));
  const ours = [...sent].flatMap(([slot, [first]]) => (first?.from === MINT_LANE ? { slot, ...first } : []));
  const under = new Map<string, string>();
  const without = new Map<string, number>();
  for (const { slot, data } of ours.sort((one, other) => one.nonce - other.nonce)) {
    const earlier = under.get(data);
    if (earlier !== undefined && !empty.has(earlier))
      findings.add('one nonce a mint', `${data.slice(0, 40)} is under ${earlier} and ${slot}`);
    under.set(data, slot);
    if (empty.has(slot)) without.set(data, (without.get(data) ?? 0) + 1);
  }
  return without;
}
