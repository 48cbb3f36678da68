/** The redemption of a perk: admitted in one commit with its code, sent by the redeem lane, answered when a block shows it. */
import type { Alarms } from '../../chain/alarms.ts';
import { redemptionKey } from '../../chain/contracts/calls/perk-calls.ts';
import type { StoredPerk } from '../../ledger/perks/perks.ts';
import { EXPIRED } from '../../ledger/perks/redemption-queue.ts';
import {
  type AdmissionRefusal,
  admitRedemption,
  findRedemption,
  isRedeemed,
  isWithoutEffect,
  type Redemption,
  type RedemptionProgress,
} from '../../ledger/perks/redemptions.ts';
import type { Crash } from '../../lib/crash-points.ts';
import type { Random } from '../../lib/ids.ts';
import { createKeyedMutex } from '../../lib/mutex.ts';
import { CODE_DIGITS, confirmationCode } from '../../rules/perks/confirmation-code.ts';
import type { Effect } from '../answer-once.ts';
import { permitIdOf } from './judge-consent.ts';
import {
  consentRequired,
  type JudgeDeps,
  type Judged,
  judgeRedemption,
  type RedemptionRefusal,
  type WantedRedemption,
} from './judge-redemption.ts';

export interface RedeemDeps extends JudgeDeps {
  /** The redeem lane, and the board on which requests wait for it. */
  redemptions: {
    nudge(): void;
    waitFor(wait: { id: string; timeoutMs: number }): Promise<RedemptionProgress | undefined>;
  };
  alarms: Alarms;
  random: Random;
  crash: Crash;
  /** The longest that a caller waits for the block, in real time. */
  answerTimeoutMs: number;
}

export type RedeemRefusal =
  | RedemptionRefusal
  | { code: 'brand_not_found'; brandId: string }
  /** No transaction carried it in time; nothing was debited. */
  | { code: 'redemption_expired'; perk: string; redemptionId: string }
  /** The chain said no; nothing was debited. */
  | { code: 'redemption_failed'; perk: string; redemptionId: string; reason: string }
  /** The chain is late; it may still come, once. */
  | { code: 'redemption_pending'; redemptionId: string };

export type RedeemOutcome =
  | { redeemed: { perk: StoredPerk; redemption: Redemption; transactionHash: `0x${string}` } }
  | { refusal: RedeemRefusal };

/** Runs the admissions of one perk one after the other. */
type InTurn = <T>(perkId: string, work: () => Promise<T>) => Promise<T>;

/**
 * One per process. `effect`: the id of a request with an idempotency key; a redemption that is under way, or done, under it
 * is found again.
 */
export function createPerkRedeemer(deps: RedeemDeps) {
  // They would wait for each other in the database too, where a crowd waits for longer than a statement may.
  const inTurn: InTurn = createKeyedMutex<string>();
  return (wanted: WantedRedemption, effect?: Effect) => redeemPerk({ ...deps, inTurn }, wanted, effect);
}

async function redeemPerk(
  deps: RedeemDeps & { inTurn: InTurn },
  wanted: WantedRedemption,
  effect?: Effect,
): Promise<RedeemOutcome> {
  const before = effect?.mayExist ? await findRedemption(deps.database.db, effect.id) : undefined;
  const judged = await judgeRedemption(deps, wanted);
  if (!('perk' in judged)) return { refusal: judged.refusal };
  if (before && before.failure === null)
    return outcomeOf(deps, { perk: judged.perk, id: before.redemption.id });
  if (judged.refusal) {
    raiseLimit(deps, judged.refusal);
    return { refusal: judged.refusal };
  }
  // What came to nothing is asked for anew.
  const id = (before ? await effect?.renew() : effect?.id) ?? deps.random.uuid();
  return admit(deps, { wanted, judged, id });
}

/** An operator may have to raise the cap, or to look who redeems so much. It is over with the hour. */
function raiseLimit({ alarms, clock, contracts }: RedeemDeps, refusal: RedemptionRefusal): void {
  if (refusal.code !== 'redemption_limit_reached') return;
  const { cap, left, perkCost, passesAtMs } = refusal;
  const isOver = passesAtMs === undefined ? undefined : () => clock.now() >= passesAtMs;
  alarms.raise('redemption_limit', contracts.token, { cap, left, cost: perkCost }, isOver && { isOver });
}

async function admit(
  deps: RedeemDeps & { inTurn: InTurn },
  { wanted, judged, id }: { wanted: WantedRedemption; judged: Judged; id: string },
): Promise<RedeemOutcome> {
  const { database, random, clock, redemptions } = deps;
  const { perk, cost, chain, wallet, agreement, userKeys = [] } = judged;
  const { userKey, userAddress } = wanted;
  if (!wallet || !agreement) return { refusal: { code: 'wallet_missing', perk: perk.name } };
  const plan = {
    id,
    key: redemptionKey(id),
    brandId: perk.brandId,
    perkId: perk.id,
    tokenId: perk.tokenId,
    userKey,
    userEmail: userAddress ? null : userKey,
    wallet,
    cost,
    confirmationCode: confirmationCode(random.bytes(CODE_DIGITS)),
    createdAt: clock.now(),
    permit: keptPermit(wanted),
  };
  const answer = await deps.inTurn(perk.id, () =>
    database.atomically(async (tx) => {
      const admitted = await admitRedemption(tx, { plan, agreement, userKeys, chain, now: database.now });
      if (admitted === 'admitted') deps.crash('redeem.before-commit');
      return admitted;
    }),
  );
  if (answer !== 'admitted') return { refusal: await notAdmitted(deps, { judged, answer }) };
  deps.crash('redeem.committed');
  redemptions.nudge();
  return outcomeOf(deps, { perk, id });
}

function keptPermit({ permit }: WantedRedemption) {
  if (!permit) return undefined;
  const { value, deadlineSeconds, v, r, s } = permit;
  const signed = { value: String(value), deadlineSeconds: String(deadlineSeconds), v, r, s };
  return { id: permitIdOf(permit), signed };
}

/** What other redemptions have taken between the judgement and the commit. */
async function notAdmitted(
  deps: RedeemDeps,
  { judged, answer }: { judged: Judged; answer: AdmissionRefusal },
): Promise<RedeemRefusal> {
  const { perk, cost, chain } = judged;
  if (answer.refused === 'stock') return { code: 'perk_sold_out', perk: perk.name };
  if (answer.refused === 'permit') return { code: 'permit_refused', problem: 'paid_before' };
  if (answer.refused === 'consent')
    return consentRequired(deps, { perk, cost, collectable: answer.collectable });
  const userBalance = Math.max(0, Number(chain.balance - answer.reserved));
  return { code: 'insufficient_balance', perk: perk.name, userBalance, perkCost: cost };
}

async function outcomeOf(
  { redemptions, answerTimeoutMs }: RedeemDeps,
  { perk, id }: { perk: StoredPerk; id: string },
): Promise<RedeemOutcome> {
  const progress = await redemptions.waitFor({ id, timeoutMs: answerTimeoutMs });
  if (progress?.failure === null && progress.hash && isRedeemed(progress))
    return { redeemed: { perk, redemption: progress.redemption, transactionHash: progress.hash } };
  const reason = progress?.failure ?? (progress && isWithoutEffect(progress) ? 'reverted' : undefined);
  if (reason === undefined) return { refusal: { code: 'redemption_pending', redemptionId: id } };
  return { refusal: refusalFor({ perk, id, reason }) };
}

/** What the contract said, in the words of the refusals that are known before. */
function refusalFor({ perk, id, reason }: { perk: StoredPerk; id: string; reason: string }): RedeemRefusal {
  if (reason === EXPIRED) return { code: 'redemption_expired', perk: perk.name, redemptionId: id };
  if (reason.startsWith('PerkSoldOut')) return { code: 'perk_sold_out', perk: perk.name };
  if (reason.startsWith('PerkNotActive')) return { code: 'perk_not_active', perk: perk.name };
  if (reason.startsWith('PriceAboveMaximum')) return { code: 'perk_price_changing', perk: perk.name };
  return { code: 'redemption_failed', perk: perk.name, redemptionId: id, reason };
}
