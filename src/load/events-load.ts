/** A load test that knows the rules of an event: whether exactly as many are rewarded as may be, and whether exactly that is paid. */

import { ClientError } from '../client/client-error.ts';
import type { Client } from '../client/create-client.ts';
import type { Reply } from '../client/reply.ts';
import { type BrandDetail, showBrand } from '../contract/control/brands.ts';
import { verify } from '../contract/control/mints.ts';
import { delay, stopwatch } from '../lib/timers.ts';
import { type EventsLoadOptions, type EventsReport, eventsReport, type UserCount } from './events-report.ts';
import { createLatencyRecorder } from './latency.ts';
import { runPaced } from './pace.ts';
import type { Sample } from './relay-report.ts';
import { clockOf } from './relay-reset.ts';
import { PreparationError } from './relay-users.ts';

interface EventsLoadDeps {
  client: Client;
  random: { bytes(count: number): Uint8Array };
  signal: AbortSignal;
  /** Hears of each answer as it comes. */
  onAnswer?: ((answer: Pick<Sample, 'verdict' | 'tookMs'>) => void) | undefined;
  onProgress: (phase: 'sending' | 'counting', done: number, of: number) => void;
}

type Rule = BrandDetail['rules'][number];
/** Why the test cannot tell how many events of this rule may be rewarded, and what helps. */
export class UncountableError extends Error {
  readonly fix: string;
  constructor(message: string, fix: string) {
    super(message);
    this.name = 'UncountableError';
    this.fix = fix;
  }
}

/** Contract: Limits. A second event of a user within it is a duplicate, whatever the rule says. */
const DUPLICATE_WINDOW_MS = 60_000;
/** How long the chain may take to show what was answered, and how often it is looked at. */
const SETTLE_MS = 30_000;
const LOOK_EVERY_MS = 250;
/** Balances asked for at once. */
const COUNTED_AT_ONCE = 8;

/** Throws `PreparationError` and `UncountableError` before anything is sent. */
export async function loadEvents(deps: EventsLoadDeps, wish: EventsLoadOptions): Promise<EventsReport> {
  const { client, signal, random } = deps;
  const { brand, rule } = await ruleOf(client, wish);
  const run = Buffer.from(random.bytes(5)).toString('hex');
  const users: (UserCount & { email: string })[] = Array.from({ length: wish.users }, (_, index) => ({
    email: `load-${run}-${index}@people.example`,
    sent: 0,
    rewarded: 0,
    promised: 0,
    paid: 0,
  }));
  const [admitted, refused] = [createLatencyRecorder(), createLatencyRecorder()];
  const samples: Sample[] = [];
  const reasons = { refusals: new Map<string, number>(), failures: new Map<string, number>() };
  const startedAtMs = await clockOf(client);
  const total = wish.users * wish.perUser;
  const elapsedMs = stopwatch();
  let done = 0;
  const job = async (index: number, lateMs: number) => {
    const user = users[index % wish.users];
    if (!user) return;
    const sentMs = elapsedMs();
    user.sent += 1;
    const reply = await sendOne(client, { brand, eventType: wish.eventType, email: user.email });
    const tookMs = elapsedMs() - sentMs + lateMs;
    const verdict = verdictOn(reply);
    if (verdict === 'admitted') {
      user.rewarded += 1;
      user.promised += amountIn(reply);
    } else count(verdict === 'refused' ? reasons.refusals : reasons.failures, reasonOf(reply));
    (verdict === 'admitted' ? admitted : refused).record(tookMs);
    samples.push({ atMs: sentMs, tookMs, verdict });
    deps.onAnswer?.({ tookMs, verdict });
    deps.onProgress('sending', ++done, total);
  };
  const sent = signal.aborted ? 0 : await runPaced({ count: total, run: job }, wish, signal);
  const durationMs = elapsedMs();
  // Afterwards a user may be rewarded once more, so how many may be is not known any longer.
  const windowMs = Math.max(DUPLICATE_WINDOW_MS, rule.cooldownMs);
  const outlasted = (await clockOf(client)) - startedAtMs >= windowMs;
  const settled = signal.aborted ? false : await readPaid(deps, { brandId: brand.brandId, users });
  const audit = signal.aborted ? undefined : await client.call(verify, { query: { limit: 50 } });
  return eventsReport({
    wish,
    reward: rule.reward,
    sent,
    durationMs,
    outlasted,
    users,
    admitted,
    refused,
    samples,
    settled,
    refusals: Object.fromEntries(reasons.refusals),
    failures: Object.fromEntries(reasons.failures),
    audit: audit?.status === 200 ? audit.body : undefined,
  });
}

async function ruleOf(client: Client, wish: EventsLoadOptions): Promise<{ brand: BrandDetail; rule: Rule }> {
  const reply = await client.call(showBrand, { path: { name: wish.brandId } });
  if (reply.status !== 200) throw new PreparationError('the brand cannot be read', reply);
  const brand = reply.body;
  const rule = brand.rules.find(({ eventType }) => eventType === wish.eventType);
  if (!rule) {
    const known = brand.rules.map(({ eventType }) => eventType).join(', ');
    throw new UncountableError(`The brand has no event ${wish.eventType}.`, `It has ${known}.`);
  }
  const choose = 'Choose another with --event, such as one that is limited by claims and cooldown alone.';
  if (!rule.active || !brand.automation)
    throw new UncountableError(`${wish.eventType} pays nothing now.`, 'Switch it on: `rewards brand rule`.');
  if (rule.maxTotalClaims !== -1 || rule.channels.length > 0)
    throw new UncountableError(
      `${wish.eventType} is limited for all users together, or to channels.`,
      choose,
    );
  if (brand.spendPerHour !== null || brand.spendPerDay !== null)
    throw new UncountableError(
      'The brand has a limit of what it spends.',
      'Take it off: `rewards brand set`.',
    );
  if (brand.funds.available < rule.reward * wish.users)
    throw new UncountableError(
      `The brand has ${brand.funds.available} RWT, and ${wish.users} rewards take ${rule.reward * wish.users}.`,
      'Give it more: `rewards brand fund`.',
    );
  return { brand, rule };
}

/** Undefined when no complete answer came back. */
async function sendOne(
  client: Client,
  { brand, eventType, email }: { brand: BrandDetail; eventType: string; email: string },
): Promise<Reply | undefined> {
  try {
    const { brandId, domains } = brand;
    return await client.sendEvent({ brandId, eventType, userEmail: email, domain: domains[0] });
  } catch (error) {
    if (error instanceof ClientError && error.kind !== 'unreachable') return undefined;
    throw error;
  }
}

/** What the limits answer; anything else shows that something does not work. */
const REFUSALS = new Set(['duplicate', 'cooldown', 'max_claims_reached']);

function verdictOn(reply: Reply | undefined): Sample['verdict'] {
  if (reply?.status === 200) return 'admitted';
  return REFUSALS.has(reasonOf(reply)) ? 'refused' : 'failed';
}

function reasonOf(reply: Reply | undefined): string {
  if (!reply) return 'no answer';
  const body = Object(reply.body) as { error?: unknown; details?: { reason?: unknown } };
  if (typeof body.details?.reason === 'string') return body.details.reason;
  return reply.status === 409 ? 'duplicate' : `${reply.status} ${String(body.error ?? '')}`.trim();
}

const amountIn = (reply: Reply | undefined) =>
  Number((Object(reply?.body) as { rewardAmount?: unknown }).rewardAmount ?? 0);

const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);

/** Reads what the chain has paid to each user, until it is what was answered or the time is over; whether it came to that. */
async function readPaid(
  { client, signal, onProgress }: EventsLoadDeps,
  { brandId, users }: { brandId: string; users: (UserCount & { email: string })[] },
): Promise<boolean> {
  const elapsedMs = stopwatch();
  for (;;) {
    let next = 0;
    const worker = async () => {
      for (let user = users[next++]; user && !signal.aborted; user = users[next++]) {
        const { status, body } = await client.balance({ brandId, userIdentifier: user.email });
        if (status === 200 && 'balance' in body) user.paid = body.balance;
        onProgress('counting', Math.min(next, users.length), users.length);
      }
    };
    await Promise.all(Array.from({ length: COUNTED_AT_ONCE }, worker));
    if (users.every(({ paid, promised }) => paid === promised)) return true;
    if (signal.aborted || elapsedMs() > SETTLE_MS) return false;
    await delay(LOOK_EVERY_MS, signal);
  }
}
