/** A kept request as a curl command that a POSIX shell can run. */
import type { Sendable } from './sendable.ts';

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
