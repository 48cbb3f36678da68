/** Sends requests to this stack through its front door: a new event, or a kept request again, compared with the first time. */
import type { ControlCall } from '../../client/control-call.ts';
import { createClient } from '../../client/create-client.ts';
import type { HostUrls } from '../../client/host-urls.ts';
import { reasonsOf } from '../../client/reasons.ts';
import { comparable, differencesOf } from '../../client/replay/differences.ts';
import { effectsBetween, settledTotals } from '../../client/replay/effects.ts';
import { sendAgain } from '../../client/replay/send-again.ts';
import { credentialValue, sendableNow } from '../../client/replay/sendable.ts';
import type { LookAtEvent } from '../../compose/hosts/create-hosts.ts';
import type { BodyOf } from '../../contract/control/control-endpoint.ts';
import type { Totals } from '../../contract/control/mints.ts';
import type { beginCheckout } from '../../contract/control/processor.ts';
import { showRequest } from '../../contract/control/requests.ts';
import { parseManualEvent } from '../../contract/events/submission.ts';
import type { ControlRequestsDeps } from '../../http/control/requests.ts';
import { atMs } from '../../ledger/database/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/ids.ts';
import { delay, stopwatch } from '../../lib/timers.ts';

/** A stack on this machine answers within it, or hangs. */
const TIMEOUT_MS = 20_000;
/** Effects are counted once nothing has changed for so long. */
const WATCH_MS = 500;

interface SendDeps {
  call: ControlCall;
  readTotals: () => Promise<Totals>;
  /** The stack's own first. */
  brands: () => Promise<readonly { brandId: string; apiKey: string; domain: string }[]>;
  urls: () => HostUrls | undefined;
  random: Random;
}

interface NotSent {
  not: { why: string; fix?: string };
}

const NOT_OPEN = { not: { why: 'the stack is not open yet' } };

export const replayOf =
  ({ call, readTotals, brands, urls, random }: SendDeps): ControlRequestsDeps['replay'] =>
  async (original, { newId }) => {
    const at = urls();
    if (!at) return NOT_OPEN;
    const again = sendableNow(original, at);
    if ('not' in again) return again;
    const secret = await credentialValue(original, { call, brands: await brands() });
    if ('not' in secret) return secret;
    const settling = { watchMs: WATCH_MS, sleep: delay };
    const before = await readTotals();
    const [answer] = await sendAgain(again.request, {
      times: 1,
      concurrency: 1,
      timeoutMs: TIMEOUT_MS,
      secret: secret.value,
      fetch,
      ...(newId && { newKey: () => random.uuid() }),
    });
    const after = await settledTotals(readTotals, settling);
    const id = answer?.requestId ?? null;
    const now = id === null ? undefined : await call(showRequest, { path: { id } });
    return {
      id,
      status: answer?.status ?? null,
      reason: answer?.reason ?? null,
      durationMs: answer?.durationMs ?? 0,
      differences: now?.status === 200 ? differencesOf(comparable(original), comparable(now.body)) : [],
      effects: { ...effectsBetween(before, after) },
    };
  };

type Brands = Awaited<ReturnType<SendDeps['brands']>>;

/** The brand of this name, or the stack's first where none is named. */
const brandIn = (brands: Brands, named: unknown) =>
  named === undefined
    ? brands[0]
    : brands.find(({ brandId, domain }) =>
        [brandId, domain].some((one) => one.toLowerCase() === String(named).toLowerCase()),
      );

/** The event with a brand and a domain where it names none. */
function filledIn(event: Readonly<Record<string, unknown>>, brands: Brands) {
  const brand = brandIn(brands, event.brandId);
  const saysWhere = 'domain' in event || 'sourceUrl' in event || !brand?.domain;
  const domain = saysWhere ? {} : { domain: brand.domain };
  return { brand, body: { ...(brand && { brandId: brand.brandId }), ...domain, ...event } };
}

/** Sends an event as it is, but for a brand and a domain that it does not name. */
export const sendEventOf =
  ({ brands, urls }: Pick<SendDeps, 'brands' | 'urls'>): ControlRequestsDeps['sendEvent'] =>
  async (event, { withKey }) => {
    const at = urls();
    if (!at) return NOT_OPEN;
    const { brand, body } = filledIn(event, await brands());
    if (withKey && !brand?.apiKey) return { not: { why: "the brand's API key is not known here" } };
    const headers: Record<string, string> = withKey ? { authorization: `Bearer ${brand?.apiKey}` } : {};
    const elapsedMs = stopwatch();
    const reply = await createClient({ urls: at, timeoutMs: TIMEOUT_MS }).sendEvent(body, { headers });
    const id = reply.headers['x-request-id'];
    if (id === undefined) return { not: { why: `it was answered ${reply.status}, without an id` } };
    const reason = reply.status < 400 ? null : (reasonsOf(reply)[0] ?? null);
    return { id, status: reply.status, reason, durationMs: Math.round(elapsedMs()) };
  };

/** How an event would be decided, at a time that may lie ahead: by the very rules and checks of events, and nothing is written. */
export const dryRunOf =
  (
    {
      brands,
      lookAtEvent,
      clock,
    }: Pick<SendDeps, 'brands'> & { lookAtEvent: LookAtEvent; clock: Pick<Clock, 'now'> },
    { ownDomain }: { ownDomain: string },
  ): ControlRequestsDeps['dryRun'] =>
  async (event, { withKey, atMs: wantedMs }) => {
    const { body } = filledIn(event, await brands());
    const nowMs = wantedMs ?? clock.now();
    const trace = { kind: 'event', nowMs, bodyBytes: Buffer.byteLength(JSON.stringify(body)) } as const;
    const parsed = parseManualEvent(body, { origin: undefined, ownDomain });
    if ('errors' in parsed)
      return { trace: { ...trace, refusal: { code: 'invalid_event_data', errors: parsed.errors } } };
    const submission = { ...parsed.submission, withBrandKey: withKey };
    const { amount, ...outlook } = await lookAtEvent(submission, () => atMs(nowMs));
    return { trace: { ...trace, submission, ...outlook }, amount };
  };

/** Begins a payment that comes back to a page of the brand; the answer is the id of its session. */
export const beginCheckoutOf =
  ({ brands, urls }: Pick<SendDeps, 'brands' | 'urls'>) =>
  async ({
    user,
    amount,
    brand: named,
  }: BodyOf<typeof beginCheckout>): Promise<{ sessionId: string } | NotSent> => {
    const at = urls();
    if (!at) return NOT_OPEN;
    const brand = brandIn(await brands(), named);
    if (!brand?.domain)
      return { not: { why: `there is no brand ${named ?? ''} with a domain to come back to` } };
    const back = (path: string) => `https://${brand.domain}/${path}`;
    const reply = await createClient({ urls: at, timeoutMs: TIMEOUT_MS }).createCheckout({
      brandId: brand.brandId,
      amount,
      currency: 'usd',
      userEmail: user,
      successUrl: back('thank-you?session={CHECKOUT_SESSION_ID}'),
      cancelUrl: back('cart'),
    });
    const { sessionId, error, message } = (reply.body ?? {}) as Record<string, unknown>;
    if (typeof sessionId === 'string') return { sessionId };
    return {
      not: { why: `the service answered ${reply.status}: ${[error, message].filter(Boolean).join(', ')}` },
    };
  };
