/** The one way in which the client throws: no complete answer came back. */

/** unreachable: nothing was sent · timeout, broken: sent, and whether it took effect is unknown. */
type ClientErrorKind = 'unreachable' | 'timeout' | 'broken';

export class ClientError extends Error {
  readonly kind: ClientErrorKind;
  /** Scheme, host and port of the server, never its path or credentials. */
  readonly origin: string;
  constructor(kind: ClientErrorKind, said: { origin: string; message: string; cause?: unknown }) {
    super(said.message, { cause: said.cause });
    this.name = 'ClientError';
    this.kind = kind;
    this.origin = said.origin;
  }
}

/** Failures before the first byte of the request could leave. */
const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** Sorts what fetch threw; fetch hides the system's own code in causes, one below the other. */
export function clientErrorFrom(error: unknown, request: { url: URL; timeoutMs: number }): ClientError {
  const { origin } = request.url;
  const codes = causes(error).flatMap((cause) => [cause.name, 'code' in cause ? String(cause.code) : '']);
  if (codes.includes('TimeoutError')) {
    return new ClientError('timeout', {
      origin,
      message: `${origin} gave no answer within ${request.timeoutMs} ms`,
      cause: error,
    });
  }
  const code = codes.find((name) => NEVER_CONNECTED.has(name));
  if (code !== undefined) {
    return new ClientError('unreachable', {
      origin,
      message: `${origin} cannot be reached (${code})`,
      cause: error,
    });
  }
  return new ClientError('broken', {
    origin,
    message: `${origin} broke the connection off before its answer was complete`,
    cause: error,
  });
}

function causes(error: unknown): Error[] {
  const chain: Error[] = [];
  const waiting = [error];
  while (waiting.length > 0 && chain.length < 20) {
    const next = waiting.shift();
    if (!(next instanceof Error)) continue;
    chain.push(next);
    waiting.push(next.cause, ...(next instanceof AggregateError ? next.errors : []));
  }
  return chain;
}
