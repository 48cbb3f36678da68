/** Which headers of a request and of its answer are recorded: those that change what a request does, never a credential. */
import type { Credential } from './request-record.ts';

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

type Header = (name: string) => string | null;

export const keptRequestHeaders = (header: Header) => chosen(header, OF_REQUESTS);
export const keptAnswerHeaders = (header: Header) => chosen(header, OF_ANSWERS);

function chosen(header: Header, names: readonly string[]): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of names) {
    const value = header(name);
    if (value !== null) kept[name] = value;
  }
  return kept;
}

/** What kind of proof came with a request; the proof itself is forgotten. */
export function credentialOf(headers: Headers): Credential | undefined {
  const [scheme = '', value = ''] = (headers.get('authorization') ?? '').split(' ');
  if (scheme.toLowerCase() === 'basic') return 'password';
  if (scheme !== '') return value.startsWith('eyJ') ? 'token' : 'key';
  if (headers.has('stripe-signature')) return 'signature';
  return headers.has('cookie') ? 'cookie' : undefined;
}
