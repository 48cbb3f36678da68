/** Which accounts a token speaks for: those that a claim names, or the ledger's own for the user's e-mail. */
import type { Queries } from '../ledger/database/database.ts';
import { findWallets } from '../ledger/wallets/wallets.ts';
import { addressKey, emailKey } from '../rules/user-key.ts';

type Address = `0x${string}`;
export type Claims = Record<string, unknown>;

/** `email` is present only when the provider has verified it. */
export type WalletsOf = (token: { claims: Claims; email?: string | undefined }) => Promise<Address[]>;

/** More than any user has; the rest is not read. */
const WALLETS_MAX = 100;

/**
 * `claim` is a claim's name, or a path such as `verified_credentials.address` that goes through objects and lists;
 * `email` means the wallet that the ledger keeps for the user of that e-mail. At `ownDomain` are only stand-ins of chat
 * users: whoever reads a mailbox there is not the user whose wallet it names.
 */
export function walletsByClaim(
  db: Queries,
  { claim, ownDomain }: { claim: string; ownDomain: string },
): WalletsOf {
  if (claim !== 'email') return async ({ claims }) => walletsIn(claims, claim);
  // No e-mail ends with `@`: without a domain that can have mailboxes, no user has one there.
  const standIn = emailKey(`user@${ownDomain}`)?.slice('user'.length) ?? '@';
  return async ({ email }) => {
    if (email === undefined || email.endsWith(standIn)) return [];
    const wallet = (await findWallets(db, [email])).get(email);
    const address = wallet && addressKey(wallet.address);
    return address ? [address] : [];
  };
}

function walletsIn(claims: Claims, claim: string): Address[] {
  // Some providers name claims by URLs: a name with dots is looked up whole before it is read as a path.
  const path = Object.hasOwn(claims, claim) ? [claim] : claim.split('.');
  const found = path.reduce<unknown[]>(
    (level, step) => level.flatMap((value) => field(value, step)),
    [claims],
  );
  const texts = found.flat().slice(0, WALLETS_MAX);
  return [...new Set(texts.flatMap((text) => (typeof text === 'string' ? (addressKey(text) ?? []) : [])))];
}

const field = (value: unknown, name: string): unknown[] =>
  (Array.isArray(value) ? value.slice(0, WALLETS_MAX) : [value]).flatMap((one) =>
    Object.hasOwn(one ?? {}, name) ? [(one as Claims)[name]] : [],
  );
