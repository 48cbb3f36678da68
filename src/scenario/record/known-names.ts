/** Puts names in place of what is another value on another stack: the brand, contracts, users, and ids that earlier steps saw. */
import type { JsonObject } from '../steps/step-context.ts';

/** What is known of the stack on which requests were recorded. */
export interface KnownStack {
  brands: readonly { brandId: string; domain: string; apiKey: string }[];
  users: readonly { email: string; address: string }[];
  contracts: Readonly<Record<string, string>>;
}

/** Every text that has a name, in small letters, with the variable that stands for it. */
export type Names = Map<string, string>;

export function namesOf({ brands, users, contracts }: KnownStack): Names {
  const names: Names = new Map();
  const [brand] = brands;
  if (brand) names.set(brand.brandId.toLowerCase(), `\${brand.id}`);
  for (const [name, address] of Object.entries(contracts))
    names.set(address.toLowerCase(), `\${contracts.${name}}`);
  for (const { email, address } of users)
    names.set(address.toLowerCase(), `\${accounts.${email.split('@')[0]}.address}`);
  return names;
}

/** What may have a name: addresses, hashes, UUIDs, e-mails, ids such as `cs_test_…`. */
const WORD = /\b0x(?:[0-9a-f]{64}|[0-9a-f]{40})\b|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\b[\w-]{8,}\b/gi;

/** A copy in which every word that has a name is that name; `of` may give names to words that have none. */
export function renamed(value: unknown, of: (word: string) => string | undefined): unknown {
  if (typeof value === 'string') return value.replaceAll(WORD, (word) => of(word) ?? word);
  if (Array.isArray(value)) return value.map((one) => renamed(one, of));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, renamed(inner, of)]),
  ) satisfies JsonObject;
}

/** Ids that somebody made up: the same text can be no part of a rule. */
export const isRandom = (word: string) =>
  /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(word) || /^0x[0-9a-f]{64}$/i.test(word);
export const isEmail = (word: string) => word.includes('@');
