/** Tells whether a user would be rewarded for an event now, by the same decision as the event itself, without writing. */
import { findBrand } from '../../ledger/brands/brands.ts';
import type { Database } from '../../ledger/database/database.ts';
import { claimKeyText, readClaimCounters } from '../../ledger/rewards/claims.ts';
import type { ClaimRefusal } from '../../rules/events/claim-policy.ts';
import { whenItPasses } from '../../rules/events/explain-event.ts';
import type { EventSubmission, ScreeningRefusal } from '../../rules/events/submission.ts';
import { type DecideDeps, type EventOutlook, lookAtEvent } from './decide-events.ts';

type NoQuestion = Extract<
  ScreeningRefusal,
  { code: 'invalid_event_data' | 'brand_not_found' | 'event_not_found' }
>;

export interface Eligibility {
  /** Why the event would be refused; absent when it would be rewarded. */
  refusal: Exclude<ScreeningRefusal, NoQuestion> | ClaimRefusal | undefined;
  /** When a duplicate or a cooldown is over and nothing else stands against the event. */
  cooldownEndsAtMs: number | undefined;
  /** The user's claims so far. */
  claimCount: number;
  /** Of one user; -1: no limit. */
  maxClaims: number;
  /** Whole RWT. */
  rewardAmount: number;
}

/** A question that names no place is asked as if from the brand's own domain. Refused: who or what it is about does not exist. */
export async function checkEligibility(
  deps: DecideDeps & { database: Database },
  asked: EventSubmission,
): Promise<Eligibility | { question: NoQuestion }> {
  const { db } = deps.database;
  const outlook = await lookAtEvent(deps, db, await placed(deps, asked));
  const { refusal, rule, state } = outlook;
  if (refusal && isNoQuestion(refusal)) return { question: refusal };
  if (!rule) throw new Error('an event was judged without its rule');
  const counter = state ? state.counter : await counterOf(db, { ...asked, eventType: rule.eventType });
  return {
    refusal,
    cooldownEndsAtMs: cooldownEndOf(outlook, deps),
    claimCount: counter?.claims ?? 0,
    maxClaims: rule.maxClaims,
    rewardAmount: outlook.amount ?? rule.rewardAmount,
  };
}

const isNoQuestion = (refusal: ScreeningRefusal | ClaimRefusal): refusal is NoQuestion =>
  refusal.code === 'invalid_event_data' ||
  refusal.code === 'brand_not_found' ||
  refusal.code === 'event_not_found';

async function placed({ database }: { database: Database }, asked: EventSubmission) {
  const { domain, sourceUrl, origin } = asked;
  if (domain ?? sourceUrl ?? origin) return asked;
  const brand = await findBrand(database.db, asked.brandId);
  return { ...asked, domain: brand?.profile.domains[0] };
}

const counterOf = async (db: Database['db'], claim: EventSubmission) =>
  (await readClaimCounters(db, [claim])).get(claimKeyText(claim));

function cooldownEndOf(outlook: EventOutlook, { duplicateWindowMs }: DecideDeps): number | undefined {
  const { refusal } = outlook;
  if (refusal?.code !== 'cooldown' && refusal?.code !== 'duplicate') return undefined;
  const passes = whenItPasses({ ...outlook, duplicateWindowMs, bodyBytes: 0, bodyLimitBytes: 0 });
  return passes && 'atMs' in passes ? passes.atMs : undefined;
}
