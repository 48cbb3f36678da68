/** The typed HTTP client of the service: the command line, scenarios, load and tests all go through it. */
import type {
  AchievementsBody,
  BalanceBody,
  EventConfigBody,
  HealthBody,
  LeaderboardBody,
  PregeneratedBody,
  ProgressBody,
  RefusalBody,
  RelayRefusalBody,
  RelayRequestBody,
  RelayResultBody,
  RelayStateBody,
  RewardBody,
} from './bodies.ts';
import { clientErrorFrom } from './client-error.ts';
import { controlCall } from './control-call.ts';
import type { HostUrls } from './host-urls.ts';
import type { Reply } from './reply.ts';
import { perkCalls, streakCalls } from './services-calls.ts';

interface ClientSettings {
  urls: HostUrls;
  /** Needed by the control calls. */
  controlToken?: string | undefined;
  /** Longest wait for a complete answer. */
  timeoutMs: number;
  userAgent?: string;
  apiPrefix?: string;
  /** Replaces the network: tests pass an application's own `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
}

interface RequestOptions {
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

interface RawRequest extends RequestOptions {
  host: keyof HostUrls;
  /** Starts with a slash; the prefix is not added. */
  path: string;
  method: string;
  /** A string or bytes go out as they are, anything else as JSON. */
  body?: unknown;
}

/** A user of a brand, as the services host takes them. */
interface UserOf {
  brandId: string;
  userIdentifier: string;
  platform?: string | undefined;
}

interface BalanceQuestion {
  brandId: string;
  userIdentifier: string;
  /** Whether the last rewards come with it, and how many of them. */
  includeHistory?: boolean;
  historyLimit?: number;
}

export type Client = ReturnType<typeof createClient>;

/**
 * Calls keep their connection for the next one. Every method resolves with whatever the service answered, an
 * error status included, and rejects with a ClientError when no complete answer came.
 */
export function createClient(settings: ClientSettings) {
  const prefix = settings.apiPrefix ?? '/rewards-api';
  const request = createRequester(settings);
  const events = { host: 'events', method: 'POST' } as const;

  return {
    request,
    /** POST manual-event. Contract: Event submission in, Reward result or a refusal out. */
    sendEvent: (body: unknown, options: RequestOptions = {}) =>
      request<RewardBody | RefusalBody>({ ...events, path: `${prefix}/manual-event`, body, ...options }),
    /** GET event-config of one brand. */
    eventConfig(brandId: string, options: RequestOptions = {}) {
      const path = `${prefix}/event-config?${new URLSearchParams({ brandId })}`;
      return request<EventConfigBody | RefusalBody>({ ...events, path, method: 'GET', ...options });
    },
    /** POST pregenerate-user. Contract: Pregenerated wallet. */
    pregenerate(body: unknown, options: RequestOptions = {}) {
      const path = `${prefix}/pregenerate-user`;
      return request<PregeneratedBody | RefusalBody>({
        host: 'register',
        path,
        method: 'POST',
        body,
        ...options,
      });
    },
    /** POST user-balance; `userIdentifier` is an e-mail or an address. */
    balance: (body: BalanceQuestion, options: RequestOptions = {}) =>
      request<BalanceBody | RefusalBody>({ ...events, path: `${prefix}/user-balance`, body, ...options }),
    /** GET achievements of a user; with `platform`, the identifier may be an id there. */
    achievements({ brandId, userIdentifier, platform }: UserOf, options: RequestOptions = {}) {
      const query = platform === undefined ? '' : `?${new URLSearchParams({ platform })}`;
      const path = `/achievements/${brandId}/${encodeURIComponent(userIdentifier)}${query}`;
      return request<AchievementsBody | RefusalBody>({ host: 'services', path, method: 'GET', ...options });
    },
    /** POST achievements/update-progress. */
    reportProgress: (body: unknown, options: RequestOptions = {}) =>
      request<ProgressBody | RefusalBody>({
        host: 'services',
        path: '/achievements/update-progress',
        method: 'POST',
        body,
        ...options,
      }),
    /** GET leaderboard of one brand; the other fields go into the query. */
    leaderboard(
      { brandId, ...query }: { brandId: string } & Record<string, string>,
      options: RequestOptions = {},
    ) {
      const path = `/leaderboard/${brandId}?${new URLSearchParams(query)}`;
      return request<LeaderboardBody | RefusalBody>({ host: 'services', path, method: 'GET', ...options });
    },
    /** POST create-checkout. Contract: Checkout session. */
    createCheckout: (body: unknown, options: RequestOptions = {}) =>
      request<unknown>({ ...events, path: `${prefix}/create-checkout`, body, ...options }),
    /** POST payment-mint of a session, by the processor's id. */
    paymentMint: (sessionId: string, options: RequestOptions = {}) =>
      request<unknown>({ ...events, path: `${prefix}/payment-mint`, body: { sessionId }, ...options }),
    /** POST relay; `token` is the user's. Contract: Relay request in, Relay result or a refusal out. */
    relay(body: RelayRequestBody, token: string, { headers: more, ...options }: RequestOptions = {}) {
      const headers = { authorization: `Bearer ${token}`, ...more };
      const asked = { host: 'relay', path: '/relay', method: 'POST', body, headers, ...options } as const;
      return request<RelayResultBody | RelayRefusalBody>(asked);
    },
    /** GET relay/<hash>: what became of a relayed call. */
    relayState(hash: string, options: RequestOptions = {}) {
      const path = `/relay/${encodeURIComponent(hash)}`;
      return request<RelayStateBody | RelayRefusalBody>({ host: 'relay', path, method: 'GET', ...options });
    },
    /** GET health; 503 when the service is not healthy. */
    health: (options: RequestOptions = {}) =>
      request<HealthBody>({ ...events, path: `${prefix}/health`, method: 'GET', ...options }),
    streaks: streakCalls(request),
    perks: perkCalls(request),
    /** Endpoints of the emulator's control API, by their values; a production service answers 404 to all of them. */
    call: controlCall(request, settings.controlToken),
  };
}

type Requester = <Body = unknown>(wish: RawRequest) => Promise<Reply<Body>>;

/** Sends one request and reads the whole answer, within the time that the settings give it. */
function createRequester(settings: ClientSettings): Requester {
  const send = settings.fetch ?? ((request: Request) => fetch(request));
  return async function request<Body = unknown>(wish: RawRequest): Promise<Reply<Body>> {
    const url = new URL(settings.urls[wish.host] + wish.path);
    const headers = new Headers({ accept: 'application/json', ...wish.headers });
    if (settings.userAgent && !headers.has('user-agent')) headers.set('user-agent', settings.userAgent);
    const hasBody = wish.body !== undefined;
    if (hasBody && !headers.has('content-type')) headers.set('content-type', 'application/json');
    const timeout = AbortSignal.timeout(settings.timeoutMs);
    const outgoing = new Request(url, {
      method: wish.method,
      headers,
      body: hasBody ? bodyBytes(wish.body) : null,
      redirect: 'manual',
      signal: wish.signal ? AbortSignal.any([wish.signal, timeout]) : timeout,
    });
    try {
      const response = await send(outgoing);
      const rawBody = await response.text();
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: parsed(rawBody) as Body,
        rawBody,
      };
    } catch (error) {
      // What an application's own fetch throws says more than that a connection broke off.
      if (wish.signal?.aborted || settings.fetch) throw error;
      throw clientErrorFrom(error, { url, timeoutMs: settings.timeoutMs });
    }
  };
}

const bodyBytes = (body: unknown): string | Uint8Array<ArrayBuffer> =>
  typeof body === 'string' || isBytes(body) ? body : JSON.stringify(body);

const isBytes = (body: unknown): body is Uint8Array<ArrayBuffer> => body instanceof Uint8Array;

function parsed(rawBody: string): unknown {
  try {
    return JSON.parse(rawBody);
  } catch {
    return rawBody;
  }
}
