/** Registered identities and their users. An identity, once written, never changes. */
import { and, asc, eq } from 'drizzle-orm';
import type { IdentityName } from '../../rules/registration.ts';
import type { Queries } from '../database/database.ts';
import { oauthIdentities } from '../schema/wallets.ts';

export type Identity = typeof oauthIdentities.$inferSelect;

export async function findIdentity(db: Queries, name: IdentityName): Promise<Identity | undefined> {
  const { provider, providerUserId } = name;
  const [row] = await db
    .select()
    .from(oauthIdentities)
    .where(and(eq(oauthIdentities.provider, provider), eq(oauthIdentities.providerUserId, providerUserId)));
  return row;
}

/** The identities of one user, oldest first. */
export const identitiesOf = (db: Queries, userKey: string): Promise<Identity[]> =>
  db
    .select()
    .from(oauthIdentities)
    .where(eq(oauthIdentities.userKey, userKey))
    .orderBy(asc(oauthIdentities.createdAt), asc(oauthIdentities.provider));

/** Writes an identity; when another commit is writing the same one, waits for it and returns that one. */
export async function ensureIdentity(tx: Queries, identity: Identity): Promise<Identity> {
  const [written] = await tx.insert(oauthIdentities).values(identity).onConflictDoNothing().returning();
  const kept = written ?? (await findIdentity(tx, identity));
  if (!kept) throw new Error('an identity was neither written nor found');
  return kept;
}
