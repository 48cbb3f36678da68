/** A kept request as it can be sent again: its address, its headers, and the credential that the log does not have. */
import type { RequestDetail } from '../../../contract/control/requests.ts';
import { CliError } from '../../machine/errors.ts';
import type { Emulator } from '../../service/control.ts';

export interface Sendable {
  method: string;
  url: string;
  /** Without the credential. */
  headers: [name: string, value: string][];
  credential?: CredentialHeader | undefined;
  body: string | null;
}

export interface CredentialHeader {
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
