/** Finds the moment from which a condition holds: when a cooldown ends, a window begins anew, a token or a checkout expires. */
import { findNamed } from '../../actions/brands/named-brand.ts';
import { showWallet } from '../../actions/wallets/show-wallet.ts';
import type { ConditionWhy } from '../../contract/control/refusals/control-refusals.ts';
import type { ConditionRefusal } from '../../http/control/clock.ts';
import type { ControlProcessorDeps } from '../../http/control/processor.ts';
import { listBrands } from '../../ledger/brands/brands.ts';
import type { Database } from '../../ledger/database/database.ts';
import { listDeliveries } from '../../ledger/emulator/processor.ts';
import { windowsOf } from '../../ledger/limits/window-expiries.ts';
import { cooldownsOf } from '../../ledger/rewards/cooldown-expiries.ts';
import { attemptsAhead, showEvent } from '../../ledger/webhooks/delivery-log.ts';
import type { Clock } from '../../lib/clock.ts';
import { isUnlimited } from '../../rules/brands/brand.ts';
import type { ClockCondition } from '../../rules/clock-condition.ts';
import type { WindowLengths } from './clock-limits.ts';
import { expiryOf, type IssuedTokens } from './issued-tokens.ts';
import type { DueItem } from './move-clock.ts';

export interface ConditionDeps {
  database: Database;
  clock: Pick<Clock, 'now'>;
  processor: Pick<ControlProcessorDeps, 'session'>;
  tokens: Pick<IssuedTokens, 'latest'>;
  /** What falls due next, the earliest first. */
  due: (limit: number) => Promise<Pick<DueItem, 'atMs'>[]>;
}

export interface ConditionSettings {
  /** Domain under which users of chat platforms have their stand-in e-mail. */
  ownDomain: string;
  duplicateWindowMs: number;
  windows: WindowLengths;
  /** How long a token is still taken after its end. */
  tokenToleranceMs: number;
}

type Moment = { atMs: number } | { refusal: ConditionRefusal };
type Parts = { deps: ConditionDeps; settings: ConditionSettings; nowMs: number };
type Condition<Kind> = Extract<ClockCondition, { kind: Kind }>;

/** The moment, always ahead; or why there is none. `brand`: an id or a domain. */
export async function momentOf(
  deps: ConditionDeps,
  settings: ConditionSettings,
  { condition, brand }: { condition: ClockCondition; brand?: string | undefined },
): Promise<Moment> {
  const parts = { deps, settings, nowMs: deps.clock.now() };
  switch (condition.kind) {
    case 'next':
      return nextMoment(parts);
    case 'cooldown':
      return endOfCooldown(parts, condition, brand);
    case 'window-reset':
      return endOfWindow(parts, condition);
    case 'webhook-retry':
      return nextAttempt(parts, condition);
    case 'token-expiry':
      return endOfToken(parts, condition);
    case 'checkout-expiry':
      return endOfCheckout(parts, condition);
  }
}

const refused = (why: ConditionWhy, message: string, fix: string): { refusal: ConditionRefusal } => ({
  refusal: { code: 'condition_not_ahead', why, message, fix },
});

const instant = (ms: number) => new Date(ms).toISOString();
const NAME_A_USER = 'Name an e-mail, an address or <platform>:<id>';

async function nextMoment({ deps: { due } }: Parts): Promise<Moment> {
  const [first] = await due(1);
  if (first) return { atMs: first.atMs };
  return refused(
    'not_found',
    'Nothing falls due: no webhook, checkout, cooldown or other limit lies ahead',
    'Move by a duration: `rewards clock advance 1h`.',
  );
}

async function endOfCooldown(
  { deps: { database }, settings, nowMs }: Parts,
  { user, eventType }: Condition<'cooldown'>,
  brand: string | undefined,
): Promise<Moment> {
  const { db } = database;
  const named = brand === undefined ? undefined : await findNamed(db, brand);
  if (brand !== undefined && !named) return { refusal: { code: 'brand_not_found', name: brand } };
  const found = await showWallet({ database, ownDomain: settings.ownDomain }, user);
  if (!found) {
    return refused(
      'not_found',
      `No user ${user} has a wallet, so no cooldown holds them up`,
      `${NAME_A_USER}; \`rewards requests list\` shows who sent events.`,
    );
  }
  const { userKey } = found.wallet;
  const { duplicateWindowMs } = settings;
  const claimed = await cooldownsOf(db, { userKey, eventType, duplicateWindowMs });
  const own = named ? claimed.filter(({ brandId }) => brandId === named.brandId) : claimed;
  if (own.length === 0) {
    return refused(
      'not_found',
      `${userKey} has no reward for ${eventType}${named ? ` of ${named.name}` : ''}, so no cooldown holds it up`,
      `Send it: \`rewards send-event ${eventType} --user ${userKey}\`.`,
    );
  }
  const again = own.filter(({ claims, maxClaims }) => isUnlimited(maxClaims) || claims < maxClaims);
  const [claim] = own;
  if (again.length === 0) {
    return refused(
      'never',
      `Waiting does not help: ${userKey} has claimed ${eventType} ${claim?.claims} of ${claim?.maxClaims} times`,
      `Raise the limit of the rule: \`rewards brand rule <brand> ${eventType} maxClaims=-1\`.`,
    );
  }
  const running = again.filter(({ atMs }) => atMs > nowMs);
  if (running.length > 1) {
    const ids = running.map(({ brandId }) => brandId);
    const names = (await listBrands(db)).filter(({ brandId }) => ids.includes(brandId));
    const domains = names.map(({ profile, brandId }) => profile.domains[0] ?? brandId);
    return refused(
      'ambiguous',
      `Cooldowns of ${running.length} brands hold up ${eventType} of ${userKey}`,
      `Say whose: --brand ${domains.join(' or ')}; over HTTP, the field brand.`,
    );
  }
  const [cooldown] = running;
  if (cooldown) return { atMs: cooldown.atMs };
  const endedAt = Math.max(...again.map(({ atMs }) => atMs));
  return refused(
    'already_passed',
    `The cooldown of ${userKey} for ${eventType} has been over since ${instant(endedAt)}`,
    'Send the event: no cooldown holds it up.',
  );
}

async function endOfWindow(
  { deps: { database }, settings, nowMs }: Parts,
  { subject }: Condition<'window-reset'>,
): Promise<Moment> {
  const scopes = Object.keys(settings.windows);
  const user = await showWallet({ database, ownDomain: settings.ownDomain }, subject);
  const subjects = [
    ...new Set([subject.toLowerCase(), ...(user ? [user.wallet.address.toLowerCase()] : [])]),
  ];
  const found = await Promise.all(subjects.map((one) => windowsOf(database.db, { scopes, subject: one })));
  const ends = found.flat().map(({ scope, startedAt }) => startedAt + (settings.windows[scope] ?? 0));
  if (ends.length === 0) {
    return refused(
      'not_found',
      `No window of a limit counts ${subject}`,
      `Name the user or the account of relayed calls, a client's address, or a brand; one use begins a window.`,
    );
  }
  const endMs = Math.max(...ends);
  if (endMs > nowMs) return { atMs: endMs };
  return refused(
    'already_passed',
    `The window of ${subject} has been over since ${instant(endMs)}`,
    'All of the limit is free: the next use begins a new window.',
  );
}

async function nextAttempt(
  { deps: { database }, nowMs }: Parts,
  { id }: Condition<'webhook-retry'>,
): Promise<Moment> {
  const { db } = database;
  const [ours] = await attemptsAhead(db, { eventId: id === 'latest' ? undefined : id, afterMs: nowMs });
  if (ours) return { atMs: ours.atMs };
  const emulated = await listDeliveries(db, {
    ...(id !== 'latest' && { eventIds: [id] }),
    ...(id === 'latest' && { state: 'waiting' as const }),
  });
  const ahead = emulated.flatMap(({ nextAt }) => (nextAt !== null && nextAt > nowMs ? [nextAt] : []));
  if (ahead.length > 0) return { atMs: Math.min(...ahead) };
  const states = [
    ...((await showEvent(db, id))?.deliveries ?? []).map(({ state }) => state),
    ...(id === 'latest' ? [] : emulated.map(({ state }) => state)),
  ];
  if (states.length === 0) {
    return refused(
      'not_found',
      id === 'latest' ? 'No webhook waits for another attempt' : `No webhook ${id} is on its way`,
      '`rewards webhooks deliveries list` shows those of the service, `rewards webhooks list` those of the payment processor.',
    );
  }
  const how = [...new Set(states)].join(' and ');
  return refused(
    states.includes('delivered') ? 'already_passed' : 'never',
    `No attempt of ${id} lies ahead: it is ${how}`,
    `\`rewards webhooks deliveries show ${id}\` shows each attempt, \`replay\` sends it again.`,
  );
}

async function endOfToken(
  { deps: { tokens }, settings, nowMs }: Parts,
  { token }: Condition<'token-expiry'>,
): Promise<Moment> {
  const issued = token === undefined ? tokens.latest()?.expiresAtMs : expiryOf(token);
  if (issued === undefined) {
    return token === undefined
      ? refused(
          'not_found',
          'This run of the stack has issued no token',
          'Issue one with `rewards token issue --user EMAIL`, or give it: token-expiry:TOKEN.',
        )
      : refused(
          'not_found',
          'The text is no token that expires',
          'Give all of the token: three parts with dots.',
        );
  }
  const refusedFromMs = issued + settings.tokenToleranceMs;
  if (refusedFromMs > nowMs) return { atMs: refusedFromMs };
  return refused(
    'already_passed',
    `The token expired at ${instant(issued)}`,
    'Issue another with `rewards token issue --user EMAIL`.',
  );
}

async function endOfCheckout(
  { deps: { processor }, nowMs }: Parts,
  { id }: Condition<'checkout-expiry'>,
): Promise<Moment> {
  const session = await processor.session(id);
  if ('refusal' in session) {
    return refused(
      'not_found',
      id === 'latest' ? 'There is no checkout session' : `No checkout session ${id}`,
      '`rewards checkout list` shows all, `rewards checkout create` begins one.',
    );
  }
  const atMs = Date.parse(session.expiresAt);
  if (session.status === 'open' && atMs > nowMs) return { atMs };
  return refused(
    session.status === 'complete' ? 'never' : 'already_passed',
    session.status === 'complete'
      ? `The session ${session.id} is paid, so it does not expire`
      : `The session ${session.id} expired at ${session.expiresAt}`,
    '`rewards checkout list` shows how each session stands.',
  );
}
