/** Where a provider publishes its keys: at a known address, or where its discovery document says. */
import { parseUrl } from '../lib/url.ts';
import { type FetchLimits, fetchJson } from './fetch-json.ts';

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
