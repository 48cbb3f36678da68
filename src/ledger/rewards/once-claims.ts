/** What users were rewarded for once and for all, by a field of the event's metadata: the database itself refuses a second time. */
import { and, asc, eq, gt, inArray, isNull, sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { bulkInsert } from '../database/many-values.ts';
import { isOneOf, type Of, preparedQuery, textAt } from '../database/prepared-query.ts';
import { eventRules } from '../schema/brands.ts';
import { onceClaims, rewards } from '../schema/rewards.ts';

export type OnceClaim = typeof onceClaims.$inferSelect;
export type OnceKey = Pick<OnceClaim, 'brandId' | 'eventType' | 'userKey' | 'field' | 'value'>;

/** Text under which a claim is found in a map; only the value can hold a space, and it comes last. */
export const onceKeyText = ({ brandId, eventType, userKey, field, value }: OnceKey) =>
  `${brandId} ${eventType} ${userKey} ${field} ${value}`;

/** Those of these that were rewarded. Asks nothing without keys: most events are not paid once for a thing. */
export async function readOnceClaims(tx: Queries, keys: OnceKey[]): Promise<Map<string, OnceClaim>> {
  if (keys.length === 0) return new Map();
  const listOf = (name: keyof OnceKey) => [...new Set(keys.map((key) => key[name]))];
  const rows = await claimsOf(tx, {
    brandIds: listOf('brandId'),
    eventTypes: listOf('eventType'),
    userKeys: listOf('userKey'),
    fields: listOf('field'),
    values: listOf('value'),
  });
  return new Map(rows.map((row) => [onceKeyText(row), row]));
}

type OnceLists = Record<'brandIds' | 'eventTypes' | 'userKeys' | 'fields' | 'values', string[]>;

const claimsOf = preparedQuery((db, of: Of<OnceLists>) =>
  db
    .select()
    .from(onceClaims)
    .where(
      and(
        isOneOf(onceClaims.brandId, of.brandIds),
        isOneOf(onceClaims.eventType, of.eventTypes),
        isOneOf(onceClaims.userKey, of.userKeys),
        isOneOf(onceClaims.field, of.fields),
        isOneOf(onceClaims.value, of.values),
      ),
    ),
);

/** Takes these for their rewards; false where one was taken before: then the caller takes back the others. */
export async function takeOnceClaims(tx: Queries, claims: OnceClaim[]): Promise<boolean> {
  const inOrder = [...claims].sort((a, b) => (onceKeyText(a) < onceKeyText(b) ? -1 : 1));
  return (await writeClaims(tx, inOrder)).length === claims.length;
}

const writeClaims = bulkInsert(onceClaims, (insert) =>
  insert.onConflictDoNothing().returning({ rewardId: onceClaims.rewardId }),
);

/** Gives back what a reward was for, when it failed for good: it can be rewarded again. */
export async function giveBackOnceClaim(
  tx: Queries,
  reward: { brandId: BrandId; eventType: string; userKey: string; id: string },
): Promise<void> {
  await tx
    .delete(onceClaims)
    .where(
      and(
        eq(onceClaims.brandId, reward.brandId),
        eq(onceClaims.eventType, reward.eventType),
        eq(onceClaims.userKey, reward.userKey),
        eq(onceClaims.rewardId, reward.id),
      ),
    );
}

/**
 * Takes what the event was rewarded for before its rule named the field, so that it is not paid once more from now on.
 * Reads every reward of the event: for changes of rules, which are rare.
 */
export async function takeEarlierOnceClaims(
  tx: Queries,
  of: { brandId: BrandId; eventType: string; field: string; nowMs: number },
): Promise<void> {
  const value = sql<string>`trim(${textAt(rewards.metadata, of.field)})`;
  const earlier = tx
    .select({
      brandId: rewards.brandId,
      eventType: rewards.eventType,
      userKey: rewards.userKey,
      field: sql<string>`cast(${of.field} as text)`.as('field'),
      value: value.as('value'),
      rewardId: rewards.id,
      amount: rewards.amount,
      claimedAt: sql<number>`cast(${of.nowMs} as bigint)`.as('claimed_at'),
    })
    .from(rewards)
    .where(
      and(
        eq(rewards.brandId, of.brandId),
        eq(rewards.eventType, of.eventType),
        isNull(rewards.releasedAt),
        sql`${value} <> ''`,
      ),
    )
    .orderBy(asc(rewards.sequence));
  await tx
    .insert(onceClaims)
    .select(earlier)
    .onConflictDoUpdate({
      target: [
        ...[onceClaims.brandId, onceClaims.eventType, onceClaims.userKey, onceClaims.field, onceClaims.value],
      ],
      // What was paid again while the rule did not name the field is no mistake of the ledger.
      set: { claimedAt: sql`excluded.claimed_at` },
    });
}

/** Claims in the order of their keys, with the reward of each, in pages for an audit. */
export const auditedOnceClaims = (db: Queries, page: { after: OnceKey | undefined; limit: number }) =>
  db
    .select({ claim: onceClaims, reward: rewards })
    .from(onceClaims)
    .leftJoin(rewards, eq(rewards.id, onceClaims.rewardId))
    .where(page.after && beyond(page.after))
    .orderBy(
      ...[asc(onceClaims.brandId), asc(onceClaims.eventType), asc(onceClaims.userKey)],
      ...[asc(onceClaims.field), asc(onceClaims.value)],
    )
    .limit(page.limit);

const beyond = ({ brandId, eventType, userKey, field, value }: OnceKey) =>
  sql`(${onceClaims.brandId}, ${onceClaims.eventType}, ${onceClaims.userKey}, ${onceClaims.field}, ${onceClaims.value})
    > (${brandId}, ${eventType}, ${userKey}, ${field}, ${value})`;

/** Rewards that paid once more for what one of these claims has, after it was taken, where the rule still names the field. */
export const rewardedTwice = (db: Queries, rewardIds: string[]) =>
  db
    .select({ claim: onceClaims, again: { id: rewards.id, sequence: rewards.sequence } })
    .from(onceClaims)
    .innerJoin(
      rewards,
      and(
        eq(rewards.userKey, onceClaims.userKey),
        eq(rewards.brandId, onceClaims.brandId),
        eq(rewards.eventType, onceClaims.eventType),
        isNull(rewards.releasedAt),
        sql`${rewards.id} <> ${onceClaims.rewardId}`,
        gt(rewards.createdAt, onceClaims.claimedAt),
        sql`trim(${textAt(rewards.metadata, onceClaims.field)}) = ${onceClaims.value}`,
      ),
    )
    .innerJoin(
      eventRules,
      and(
        eq(eventRules.brandId, onceClaims.brandId),
        eq(eventRules.eventType, onceClaims.eventType),
        sql`${textAt(eventRules.detail, sql`'oncePer'`)} = ${onceClaims.field}`,
      ),
    )
    .where(inArray(onceClaims.rewardId, rewardIds));
