/** A kept request as it can be sent again: its address, its headers, and the credential that the log does not have. */
import type { RequestDetail } from '../../contract/control/requests.ts';
import { issueToken, showWallet } from '../../contract/control/users.ts';
import type { ControlCall } from '../control-call.ts';
import type { HostUrls } from '../host-urls.ts';

export interface Sendable {
  method: string;
  url: string;
  /** Without the credential. */
  headers: [name: string, value: string][];
  credential?: CredentialHeader | undefined;
  body: string | null;
}

interface CredentialHeader {
  name: string;
  /** Stands in front of the value. */
  scheme: string;
  /** Environment variable that a person puts the value into. */
  variable: string;
}

const CREDENTIALS: Record<NonNullable<RequestDetail['credential']>, CredentialHeader> = {
  key: { name: 'authorization', scheme: 'Bearer ', variable: 'REWARDS_API_KEY' },
  token: { name: 'authorization', scheme: 'Bearer ', variable: 'REWARDS_USER_TOKEN' },
  signature: { name: 'stripe-signature', scheme: '', variable: 'STRIPE_SIGNATURE' },
  password: { name: 'authorization', scheme: 'Basic ', variable: 'REWARDS_SITE_LOGIN' },
  cookie: { name: 'cookie', scheme: '', variable: 'REWARDS_SITE_COOKIE' },
};

/** Why a request cannot be sent again, and what would help. */
export interface NotReplayable {
  not: { why: string; fix?: string };
}

const notReplayable = (why: string, fix?: string): NotReplayable => ({ not: { why, ...(fix && { fix }) } });

const WHY_NOT: Partial<Record<RequestDetail['requestBodyKept'], string>> = {
  cut: 'its body was too long for the log, which has the beginning alone',
  refused: 'its body was refused as such, and is not kept',
  'not kept': 'production keeps no bodies',
};

/** `urls`: where the service's hosts are. A body that lacks its secrets can be printed, and not sent. */
export function sendable(request: RequestDetail, urls: HostUrls): { request: Sendable } | NotReplayable {
  const { method, host, path, search, origin, requestBody, requestBodyKept, requestHeaders } = request;
  const why = WHY_NOT[requestBodyKept];
  if (why !== undefined) return notReplayable(why);
  return {
    request: {
      method,
      // A host's address may have a path of its own, which the request's path has already.
      url: new URL(urls[host ?? 'events']).origin + path + search,
      headers: [
        ...Object.entries(requestHeaders),
        ...(origin === null ? [] : [['origin', origin] satisfies [string, string]]),
      ],
      credential: request.credential === null ? undefined : CREDENTIALS[request.credential],
      body: requestBody,
    },
  };
}

/** The same for a request that is sent at once: what was redacted is missing. */
export function sendableNow(request: RequestDetail, urls: HostUrls): { request: Sendable } | NotReplayable {
  const found = sendable(request, urls);
  if ('not' in found || request.requestBodyKept !== 'redacted') return found;
  return notReplayable(
    'there were secrets in its body, which the log does not have',
    'Print it with `requests show --as curl`, and fill in what is [redacted].',
  );
}

export interface CredentialSource {
  call: ControlCall;
  /** Keys of brands that are known here. */
  brands: readonly { brandId: string; apiKey: string }[];
  /** What the caller gives in their place. */
  key?: string | undefined;
  token?: string | undefined;
}

/** The credential's value; undefined for a request that had none. */
export async function credentialValue(
  request: RequestDetail,
  source: CredentialSource,
): Promise<{ value: string | undefined } | NotReplayable> {
  const { credential } = request;
  if (credential === null) return { value: undefined };
  if (credential === 'key') {
    const key = source.key ?? keyOf(request, source.brands);
    return key
      ? { value: key }
      : notReplayable("the brand's API key is not known here", 'Set REWARDS_API_KEY.');
  }
  if (credential === 'token')
    return source.token === undefined ? tokenFor(request, source.call) : { value: source.token };
  if (credential === 'signature')
    return notReplayable(
      'its signature is not kept',
      'Use `rewards webhooks replay`, which signs the event anew.',
    );
  return notReplayable(`its ${credential} is not kept`, 'Sign in again, and send the request anew.');
}

/** The key of the brand that the request names, else that of the stack's first brand. */
function keyOf(
  { brandId, path, requestBody }: RequestDetail,
  brands: CredentialSource['brands'],
): string | undefined {
  const named = (one: { brandId: string }) =>
    [brandId ?? '', path, requestBody ?? ''].some((text) =>
      text.toLowerCase().includes(one.brandId.toLowerCase()),
    );
  return (brands.find(named) ?? brands[0])?.apiKey;
}

const ISSUE = 'Set REWARDS_USER_TOKEN to what `rewards token issue --user <email>` prints.';

/** A token of an hour for the user whose wallet the call is from. */
async function tokenFor(
  { user }: RequestDetail,
  call: ControlCall,
): Promise<{ value: string } | NotReplayable> {
  if (user === null) return notReplayable('it does not say whose token it had', ISSUE);
  const wallet = await call(showWallet, { path: { user } });
  const email = wallet.status === 200 ? wallet.body.user : user;
  if (!email.includes('@')) return notReplayable(`${user} is not the wallet of a user here`, ISSUE);
  const issued = await call(issueToken, { body: { user: email } });
  if (issued.status >= 400) return notReplayable(`no token was issued for ${email}`, ISSUE);
  return { value: issued.body.token };
}
