/** Requests of a step as they went out and came back, and the newest of them as a line for a shell. */
import { clientErrorFrom } from '../../client/client-error.ts';
import { shellQuoted } from '../../lib/text/shell-quoted.ts';
import type { RequestMade } from './report.ts';

interface Exchange extends RequestMade {
  headers: Record<string, string>;
  body: string;
  ofControl: boolean;
}

/** Of a step that is repeated, the last ones are kept. */
const KEPT = 5;
const SECRET_HEADERS = new Set(['authorization', 'cookie', 'stripe-signature']);
/** What every client sends. */
const USUAL_HEADERS = new Set(['accept', 'user-agent']);

export function createExchanges(settings: { controlUrl: string; timeoutMs: number }) {
  const kept: Exchange[] = [];
  return {
    /** For the client of a step. */
    async fetch(request: Request): Promise<Response> {
      const exchange: Exchange = {
        method: request.method,
        url: request.url,
        status: null,
        requestId: null,
        headers: Object.fromEntries(request.headers),
        body: await request.clone().text(),
        ofControl: request.url.startsWith(settings.controlUrl),
      };
      kept.push(exchange);
      if (kept.length > KEPT) kept.shift();
      try {
        const response = await fetch(request);
        exchange.status = response.status;
        exchange.requestId = response.headers.get('x-request-id');
        return response;
      } catch (error) {
        throw clientErrorFrom(error, { url: new URL(request.url), timeoutMs: settings.timeoutMs });
      }
    },
    made: (): RequestMade[] =>
      kept.map(({ method, url, status, requestId }) => ({ method, url, status, requestId })),
    /** Of the newest request to the service itself, else to its controls. */
    curl(): string | null {
      const newest = kept.findLast(({ ofControl }) => !ofControl) ?? kept.at(-1);
      return newest ? curlOf(newest) : null;
    },
  };
}

function curlOf({ method, url, headers, body }: Exchange): string {
  const shown = Object.entries(headers).filter(([name]) => !USUAL_HEADERS.has(name));
  return [
    `curl -X ${method} ${shellQuoted(url)}`,
    ...shown.map(
      ([name, value]) => `-H ${shellQuoted(`${name}: ${SECRET_HEADERS.has(name) ? '…' : value}`)}`,
    ),
    ...(body === '' ? [] : [`-d ${shellQuoted(body)}`]),
  ].join(' ');
}
