/** Where a provider publishes its keys, at a known address or where its discovery document says, and how they are fetched. */
import { parseUrl } from '../lib/url.ts';
import { usableKeys } from './key-set.ts';

interface ProviderAddress {
  /** Must equal `iss` exactly. */
  issuer: string;
  /** Saves the look at the discovery document. */
  jwksUrl?: string | undefined;
}

/** Fetches the key set once per call. Throws when it cannot be fetched. */
export function providerKeys(
  { issuer, jwksUrl }: ProviderAddress,
  limits: FetchLimits,
): () => Promise<unknown> {
  let known = jwksUrl === undefined ? undefined : keyAddress(jwksUrl);
  return async () => {
    known ??= await discover(issuer, limits);
    try {
      return await fetchJson(known, limits);
    } catch (error) {
      // The provider may have moved them.
      if (jwksUrl === undefined) known = undefined;
      throw error;
    }
  };
}

/** OpenID Connect Discovery, section 4. */
async function discover(issuer: string, limits: FetchLimits): Promise<string> {
  const document = await fetchJson(
    keyAddress(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`),
    limits,
  );
  const { issuer: stated, jwks_uri: jwksUri } = (document ?? {}) as Record<string, unknown>;
  if (stated !== issuer)
    throw new Error(`the discovery document is that of another issuer: ${String(stated).slice(0, 200)}`);
  if (typeof jwksUri !== 'string') throw new Error('the discovery document names no keys');
  return keyAddress(jwksUri);
}

/** An attacker who can change keys in transit can sign for every user: only https, or this machine. */
function keyAddress(text: string): string {
  const url = parseUrl(text);
  const isHere = url?.protocol === 'http:' && /^(?:127\.0\.0\.1|localhost|\[::1\])$/.test(url.hostname);
  if (!url || (url.protocol !== 'https:' && !isHere)) throw new Error('keys are fetched over https only');
  return url.href;
}

/** Throws what is wrong, as the end of a sentence: the provider does not answer, is another one, or has no usable key. */
export async function askProvider(
  address: { issuer: string; jwksUrl?: string | undefined },
  limits: FetchLimits,
): Promise<void> {
  usableKeys(await providerKeys(address, limits)());
}

// JSON from a provider: within limits of size and time, and only from the address that was asked.

export interface FetchLimits {
  timeoutMs: number;
  bytesMax: number;
}

/** Throws unless a complete 200 answer of JSON comes within the limits; redirects are not followed. */
export async function fetchJson(url: string, { timeoutMs, bytesMax }: FetchLimits): Promise<unknown> {
  const response = await fetch(url, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`answered ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    // Leaving the loop ends the connection.
    if (length > bytesMax) throw new Error(`answered more than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch {
    throw new Error('answered with something that is not JSON');
  }
}
