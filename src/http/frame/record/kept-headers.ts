/** Which headers of a request and of its answer are recorded: those that change what a request does, never a credential. */
import type { Credential } from '../request-record.ts';

/** All others are left out by not being named: Authorization, Cookie, signatures, addresses of callers. */
const OF_REQUESTS = ['content-type', 'idempotency-key', 'if-none-match'] as const;
const OF_ANSWERS = [
  'content-type',
  'etag',
  'location',
  'retry-after',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
] as const;

export const keptRequestHeaders = (headers: Headers) => chosen(headers, OF_REQUESTS);
export const keptAnswerHeaders = (headers: Headers) => chosen(headers, OF_ANSWERS);

function chosen(headers: Headers, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name): [string, string][] => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
}

/** What kind of proof came with a request; the proof itself is forgotten. */
export function credentialOf(headers: Headers): Credential | undefined {
  const [scheme = '', value = ''] = (headers.get('authorization') ?? '').split(' ');
  if (scheme.toLowerCase() === 'basic') return 'password';
  if (scheme !== '') return value.startsWith('eyJ') ? 'token' : 'key';
  if (headers.has('stripe-signature')) return 'signature';
  return headers.has('cookie') ? 'cookie' : undefined;
}
