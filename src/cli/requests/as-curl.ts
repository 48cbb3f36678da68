/** A request as the curl command that sends it again. */
import type { RequestDetail } from '../../client/bodies.ts';

/** Secrets were never kept: the brand's key is taken from the environment. */
export function asCurl(request: RequestDetail, base: string): string {
  const { method, path, search, origin, requestBody, withBrandKey } = request;
  const parts = [
    `curl -i ${method === 'GET' ? '' : `-X ${method} `}${quoted(base + path + search)}`,
    ...(origin === null ? [] : [`-H ${quoted(`origin: ${origin}`)}`]),
    ...(withBrandKey ? ['-H "authorization: Bearer $REWARDS_API_KEY"'] : []),
    ...(requestBody === null
      ? []
      : [`-H ${quoted('content-type: application/json')}`, `--data-raw ${quoted(requestBody)}`]),
  ];
  return parts.join(' \\\n  ');
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
