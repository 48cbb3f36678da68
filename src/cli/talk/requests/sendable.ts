/** A kept request as a person sends it again: in curl's words or an editor's, with its credential or a variable for it. */
import {
  credentialValue,
  type NotReplayable,
  type Sendable,
  sendable,
  sendableNow,
} from '../../../client/replay/sendable.ts';
import type { Environment } from '../../../compose/env.ts';
import type { RequestDetail } from '../../../contract/control/requests.ts';
import { shellQuoted } from '../../../lib/text/shell-quoted.ts';
import { CliError } from '../../machine/errors.ts';
import type { Emulator } from '../../service/control.ts';

/** As it can be printed. E_NOT_REPLAYABLE where the log does not have its body. */
export const printable = (request: RequestDetail, { urls }: Emulator): Sendable =>
  orThrow(request, sendable(request, urls)).request;

/** As it can be sent at once. E_NOT_REPLAYABLE where the log does not have all of its body. */
export const replayable = (request: RequestDetail, { urls }: Emulator): Sendable =>
  orThrow(request, sendableNow(request, urls)).request;

/** Undefined for a request without a credential; E_NOT_REPLAYABLE when it cannot be had. */
export async function secretOf(
  request: RequestDetail,
  { emulator: { call, run }, env }: { emulator: Emulator; env: Environment },
): Promise<string | undefined> {
  const { REWARDS_API_KEY: key, REWARDS_USER_TOKEN: token } = env;
  return orThrow(request, await credentialValue(request, { call, brands: run?.brands ?? [], key, token }))
    .value;
}

function orThrow<Found extends object>({ id }: RequestDetail, found: Found | NotReplayable): Found {
  if (!('not' in found)) return found;
  throw notReplayable(id, found.not.why, found.not.fix);
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

/** `secret`: the credential itself; without it the command takes it from a variable. */
export function asCurl({ method, url, headers, credential, body }: Sendable, secret?: string): string {
  const sent = headers.map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`);
  // curl would name a form's content type for a body without one.
  const bare =
    body !== null && !headers.some(([name]) => name === 'content-type') ? ["-H 'content-type;'"] : [];
  return [
    ['curl -i', ...(/[[\]{}]/.test(url) ? ['-g'] : []), ...methodFlag(method, body), shellQuoted(url)].join(
      ' ',
    ),
    ...sent,
    ...bare,
    ...(credential ? [`-H ${credentialArgument(credential, secret)}`] : []),
    ...(body === null ? [] : [`--data-raw ${shellQuoted(body)}`]),
  ].join(' \\\n  ');
}

const methodFlag = (method: string, body: string | null) => {
  if (method === 'HEAD') return ['--head'];
  return method === 'GET' && body === null ? [] : [`-X ${method}`];
};

const credentialArgument = (
  { name, scheme, variable }: NonNullable<Sendable['credential']>,
  secret: string | undefined,
) => (secret === undefined ? `"${name}: ${scheme}$${variable}"` : shellQuoted(`${name}: ${scheme}${secret}`));

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
