/** A kept request as it can be sent again: its address, its headers, and the credential that the log does not have. */
import type { RequestDetail } from '../../../contract/control/requests.ts';
import { issueToken, showWallet } from '../../../contract/control/users.ts';
import { CliError } from '../../machine/errors.ts';
import type { Emulator } from '../../service/control.ts';
import { mustSucceed } from '../../service/control-reply.ts';

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

const WHY_NOT: Partial<Record<RequestDetail['requestBodyKept'], string>> = {
  cut: 'its body was too long for the log, which has the beginning alone',
  refused: 'its body was refused as such, and is not kept',
  'not kept': 'production keeps no bodies',
};

/** E_NOT_REPLAYABLE for a request whose body the log does not have. */
export function sendable(request: RequestDetail, { urls }: Emulator): Sendable {
  const { id, method, host, path, search, origin, requestBody, requestBodyKept, requestHeaders } = request;
  const why = WHY_NOT[requestBodyKept];
  if (why !== undefined) throw notReplayable(id, why);
  return {
    method,
    // A host's address may have a path of its own, which the request's path has already.
    url: new URL(urls[host ?? 'events']).origin + path + search,
    headers: [
      ...Object.entries(requestHeaders),
      ...(origin === null ? [] : [['origin', origin] satisfies [string, string]]),
    ],
    credential: request.credential === null ? undefined : CREDENTIALS[request.credential],
    body: requestBody,
  };
}

export const notReplayable = (id: string, why: string, fix?: string) =>
  new CliError('E_NOT_REPLAYABLE', {
    message: `${id} cannot be sent again: ${why}.`,
    ...(fix !== undefined && { fix }),
  });

/** Against a production database. */
export const noBodies = () =>
  new CliError('E_NOT_REPLAYABLE', {
    message: 'Production keeps no bodies, so its requests cannot be sent again.',
    fix: 'Look at it with `requests show` or `requests explain`, and send it anew with `rewards send-event`.',
  });

/** Undefined for a request without one; E_NOT_REPLAYABLE when it cannot be had. */
export async function credentialValue(
  request: RequestDetail,
  { emulator, env }: { emulator: Emulator; env: Readonly<Record<string, string | undefined>> },
): Promise<string | undefined> {
  const { id, credential } = request;
  if (credential === null) return undefined;
  if (credential === 'key') {
    const key = env.REWARDS_API_KEY ?? keyOf(request, emulator);
    if (key) return key;
    throw notReplayable(id, "the brand's API key is not known here", 'Set REWARDS_API_KEY.');
  }
  if (credential === 'token') return env.REWARDS_USER_TOKEN ?? tokenFor(request, emulator);
  if (credential === 'signature')
    throw notReplayable(
      id,
      'its signature is not kept',
      'Use `rewards webhooks replay`, which signs the event anew.',
    );
  throw notReplayable(id, `its ${credential} is not kept`, 'Sign in again, and send the request anew.');
}

/** The key of the brand that the request names, else that of the stack's first brand. */
function keyOf({ brandId, path, requestBody }: RequestDetail, { run }: Emulator): string | undefined {
  const brands = run?.brands ?? [];
  const named = (one: { brandId: string }) =>
    [brandId ?? '', path, requestBody ?? ''].some((text) =>
      text.toLowerCase().includes(one.brandId.toLowerCase()),
    );
  return (brands.find(named) ?? brands[0])?.apiKey;
}

/** A token of an hour for the user whose wallet the call is from. */
async function tokenFor({ id, user }: RequestDetail, { call }: Emulator): Promise<string> {
  const fix = 'Set REWARDS_USER_TOKEN to what `rewards token issue --user <email>` prints.';
  if (user === null) throw notReplayable(id, 'it does not say whose token it had', fix);
  const wallet = await call(showWallet, { path: { user } });
  const email = wallet.status === 200 ? wallet.body.user : user;
  if (!email.includes('@')) throw notReplayable(id, `${user} is not the wallet of a user here`, fix);
  const issued = await call(issueToken, { body: { user: email } });
  mustSucceed(issued);
  return issued.body.token;
}

/** `secret`: the credential itself; without it the command takes it from a variable. */
export function asCurl({ method, url, headers, credential, body }: Sendable, secret?: string): string {
  const sent = headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  // curl would name a form's content type for a body without one.
  const bare =
    body !== null && !headers.some(([name]) => name === 'content-type') ? ["-H 'content-type;'"] : [];
  return [
    ['curl -i', ...(/[[\]{}]/.test(url) ? ['-g'] : []), ...methodFlag(method, body), quoted(url)].join(' '),
    ...sent,
    ...bare,
    ...(credential ? [`-H ${credentialArgument(credential, secret)}`] : []),
    ...(body === null ? [] : [`--data-raw ${quoted(body)}`]),
  ].join(' \\\n  ');
}

const methodFlag = (method: string, body: string | null) => {
  if (method === 'HEAD') return ['--head'];
  return method === 'GET' && body === null ? [] : [`-X ${method}`];
};

const credentialArgument = (
  { name, scheme, variable }: NonNullable<Sendable['credential']>,
  secret: string | undefined,
) => (secret === undefined ? `"${name}: ${scheme}$${variable}"` : quoted(`${name}: ${scheme}${secret}`));

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Without `secret` the credential is a variable of the editor's environment file. */
export function asHttp({ method, url, headers, credential, body }: Sendable, secret?: string): string {
  return [
    `${method} ${url}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(credential
      ? [`${credential.name}: ${credential.scheme}${secret ?? `{{${credential.variable}}}`}`]
      : []),
    ...(body === null ? [] : ['', body]),
  ].join('\n');
}
