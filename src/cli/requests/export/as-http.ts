/** A kept request as an entry of an `.http` file, as editors send it. */
import type { Sendable } from '../../talk/requests/sendable.ts';

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
