/** What requests bring about beside their answers: new rewards, mints, calls, redemptions and webhooks in the ledger. */
import type { Totals } from '../../contract/control/mints.ts';
import { effectNames } from './effect-names.ts';

export type Effects = Totals;

/** A busy stack is counted all the same after so many looks. */
const LOOKS_MAX = 10;

/**
 * The totals once two looks, `watchMs` apart, saw the same: what a block or a delivery brings comes some time after the
 * answer that it belongs to.
 */
export async function settledTotals(
  look: () => Promise<Effects>,
  { watchMs, sleep }: { watchMs: number; sleep: (ms: number) => Promise<void> },
): Promise<Effects> {
  let seen = await look();
  for (let looks = 1; looks < LOOKS_MAX; looks++) {
    await sleep(watchMs);
    const now = await look();
    if (effectNames.every((name) => now[name] === seen[name])) return now;
    seen = now;
  }
  return seen;
}

export const effectsBetween = (before: Effects, after: Effects): Effects =>
  Object.fromEntries(effectNames.map((name) => [name, after[name] - before[name]])) as Effects;

/** `1 reward, 100 RWT rewarded`, or `none`. */
export function effectsText(effects: Effects): string {
  const said = effectNames
    .filter((name) => effects[name] !== 0)
    .map((name) => `${effects[name]} ${WORDS[name](effects[name])}`);
  return said.length === 0 ? 'none' : said.join(', ');
}

const plural =
  (one: string, more = `${one}s`) =>
  (count: number) =>
    count === 1 ? one : more;
const WORDS: Record<keyof Effects, (count: number) => string> = {
  rewards: plural('reward'),
  rwtRewarded: () => 'RWT rewarded',
  mints: plural('mint'),
  rwtMinted: () => 'RWT minted',
  relays: plural('relayed call'),
  redemptions: plural('redemption'),
  checkouts: plural('checkout'),
  wallets: plural('wallet'),
  webhooks: plural('webhook'),
};
