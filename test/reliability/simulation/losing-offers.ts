/**
 * A ledger that loses one commit: that of a better offer, which a node has got. So does a copy that is a second old, or a
 * failover to a database that lags behind. Nobody notices, so nobody recovers it: the services start on it as it is.
 */
import type { Hex } from 'viem';
import type { LedgerCopy } from './sim-ledger.ts';
import type { World } from './world.ts';

/** The ledger before a commit that is about to be lost; undefined when this one stays. */
export async function copyToLose({ plan, calm, offerChance, ledger, lostOffers }: World) {
  const isLost = !calm && lostOffers.size < OFFERS_MAX && offerChance.hit(plan.lostOffers);
  return isLost ? ledger.copy() : undefined;
}

/** Each of them costs a seed its processes. */
const OFFERS_MAX = 3;

/** Called after the commit; `stored`: hashes of what it stored. False when no better offer is among that: nothing is lost then. */
export async function loseOffers(
  world: World,
  { before, stored }: { before: LedgerCopy; stored: readonly string[] },
): Promise<boolean> {
  const { ledger, node, replicas, lostOffers } = world;
  const offers = await ledger.rows<{ hash: string; raw: Hex }>(
    'select hash, raw from attempts where attempt > 0 and hash in (select value from json_each(?))',
    JSON.stringify(stored),
  );
  if (offers.length === 0) return false;
  for (const { hash, raw } of offers) {
    await node.rpc('eth_sendRawTransaction', [raw]).catch(() => undefined);
    lostOffers.add(hash);
  }
  for (const replica of replicas) replica.die();
  await ledger.restore(before);
  world.struck('offer lost');
  return true;
}
