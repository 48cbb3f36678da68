/** Builds the hosts from adapters that the caller has picked. */
import { createAnswerOnce } from '../../actions/answer-once.ts';
import { verifyBrandKey } from '../../actions/brands/brand-keys.ts';
import type { DnsVerification } from '../../actions/brands/verify-dns.ts';
import { invalidateResults } from '../../actions/constraints/constraint-results.ts';
import { streakMultipliers } from '../../actions/engagement/read-streaks.ts';
import { createEventSubmitter } from '../../actions/events/batch-events.ts';
import { checkEligibility } from '../../actions/events/check-eligibility.ts';
import type { EventDecision, EventToDecide } from '../../actions/events/decide-events.ts';
import { type EventOutlook, lookAtEvent } from '../../actions/events/decide-events.ts';
import { raiseEventAlarms } from '../../actions/events/event-alarms.ts';
import { readEventConfig } from '../../actions/events/read-event-config.ts';
import { readEventState } from '../../actions/events/read-event-state.ts';
import { rewardEvent } from '../../actions/events/reward-event.ts';
import type { Payments } from '../../actions/payments/create-payments.ts';
import { type Health, reportHealth } from '../../actions/report-health.ts';
import { pregenerateWallet } from '../../actions/wallets/pregenerate-wallet.ts';
import { readBalance } from '../../actions/wallets/read-balance.ts';
import { createPerkContract, type PerkContract } from '../../chain/contracts/calls/perk-calls.ts';
import { createPermitReader } from '../../chain/contracts/permit.ts';
import { createCollecting, createRewardToken, type RewardToken } from '../../chain/contracts/reward-token.ts';
import type { ChainEngine } from '../../chain/engine.ts';
import type { ChainClient } from '../../chain/rpc/client.ts';
import type { Rpc } from '../../chain/rpc/rpc.ts';
import type { Milestone } from '../../chain/waiting/reward-waiters.ts';
import { eventsHostContract } from '../../contract/events/host.ts';
import { eventsRefusals } from '../../contract/events/refusals.ts';
import type { ErrorDialect } from '../../contract/refusals.ts';
import { registerHostContract } from '../../contract/register/host.ts';
import { registerRefusals } from '../../contract/register/refusals.ts';
import { relayHostContract } from '../../contract/relay/host.ts';
import { servicesHostContract } from '../../contract/services/host.ts';
import { createEventsHost } from '../../http/events/host.ts';
import { createUseWindows } from '../../http/frame/address-gate.ts';
import { proxyTrust } from '../../http/frame/client-address.ts';
import { createRefuser } from '../../http/frame/refuse.ts';
import type { Observer } from '../../http/frame/request-record.ts';
import type { ReferenceLink } from '../../http/reference/reference-page.ts';
import { createRegisterHost } from '../../http/register.ts';
import type { TokenVerifier } from '../../identity/tokens.ts';
import type { WalletTree } from '../../identity/wallets.ts';
import type { BusinessTime, Database } from '../../ledger/database/database.ts';
import type { Facts } from '../../ledger/facts.ts';
import { createSharedAnswers } from '../../lib/batch/shared-answers.ts';
import { type Clock, steadyClock, systemClock } from '../../lib/clock.ts';
import type { Crash } from '../../lib/crash-points.ts';
import type { Random } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { CheckConstraints } from '../../rules/constraint.ts';
import type { EventSubmission } from '../../rules/events/submission.ts';
import { type RelayOverrides, settings } from '../config.ts';
import { createRelay } from './create-relay-host.ts';
import { createServices, createStreaks, ownAddressesOf } from './create-services-host.ts';
import type { ServiceHosts } from './one-port.ts';

export interface HostsDeps {
  /** Absent where the service takes no payments. */
  payments?: Pick<Payments, 'createCheckout' | 'mintPayment' | 'readEvent' | 'receiveEvent'> | undefined;
  database: Database;
  chain: ChainClient;
  rpc: Rpc;
  engine: Pick<ChainEngine, 'payouts' | 'progress' | 'redemptions' | 'relays' | 'alarms'>;
  facts: Facts['chain'];
  /** The service's own accounts, which no reward goes to. */
  ownAccounts?: readonly `0x${string}`[] | undefined;
  wallets: WalletTree;
  /** Absent where users cannot log in; then the service has no relay either. */
  tokens?: TokenVerifier | undefined;
  /** Looks for a domain's record and keeps what it proves. */
  verifyDns: (domain: string) => Promise<DnsVerification>;
  /** Whether a buyer meets what a perk asks of them. */
  checkConstraints: CheckConstraints;
  clock: Clock;
  businessTime: BusinessTime;
  /** Webhooks that a request has queued are due. */
  nudgeWebhooks: () => void;
  /** Resolves when boards and achievements have what blocks show so far, within a bound. */
  caughtUp: () => Promise<void>;
  random: Random;
  log: Log;
  observer: Observer;
  crash: Crash;
}

export interface HostsConfig {
  relay?: RelayOverrides | undefined;
  /** Domains of the service itself. */
  serviceDomains: readonly string[];
  /** Addresses or networks of proxies whose forwarded headers are trusted. */
  proxies: readonly string[];
  /** Requests a minute that one address may send without a brand's key; 0 for any number. */
  addressRequestsMax: number;
  /** How long a user's balance is not asked of the chain again: as long as a block lasts. */
  balanceKeptMs: number;
  apiPrefix: string;
  /** Domain of the stand-in e-mails that users of chat platforms get. */
  ownDomain: string;
  httpsOnly: boolean;
  answerWhen: Milestone;
  errorDialect?: ErrorDialect | undefined;
  /** How long a second event counts as the first one sent again. */
  duplicateWindowMs: number;
}

/** How an event would be decided, now or at another time; nothing is locked or written. */
export type LookAtEvent = (submission: EventSubmission, at?: BusinessTime) => Promise<EventOutlook>;

export interface Hosts extends ServiceHosts {
  lookAtEvent: LookAtEvent;
  /** Resolves when all decisions are done. */
  idle: () => Promise<void>;
}

export function createHosts(deps: HostsDeps, config: HostsConfig): Hosts {
  const { database, clock, tokens } = deps;
  const { apiPrefix, ownDomain, httpsOnly } = config;
  const frame = frameOf(deps, config);
  const hostSettings = {
    apiPrefix,
    references: referencesOf(tokens !== undefined),
    bodyLimitBytes: settings.bodyLimitBytes,
    ownDomain,
    httpsOnly,
  };
  const deciding = decidingDeps(deps, config);
  const submitter = createEventSubmitter(deciding);
  const rewarding = rewardingDeps(deps, { submitter, answerWhen: config.answerWhen });
  const token = tokenOf(deps, config);
  const health = { database, clock, chain: deps.chain, identityReady: tokens?.ready };
  const events = createEventsHost({
    ...frame,
    rewardEvent: (submission, effect) => rewardEvent(rewarding, submission, effect),
    checkEligibility: (submission) => checkEligibility(deciding, submission),
    readEventConfig: (brandId) => readEventConfig({ database }, brandId),
    readEventState: (eventId) => readEventState({ database }, eventId),
    readBalance: (wanted) => readBalance({ database, token }, wanted),
    ...sharedQuestions(deps, { health }),
    invalidateResults: (wanted) => invalidateResults(deps, wanted),
    createCheckout: deps.payments?.createCheckout,
    payments: deps.payments,
    refuser: createRefuser(eventsRefusals, { clock, dialect: config.errorDialect }),
    settings: {
      ...hostSettings,
      workerVersion: settings.workerVersion,
      processorEventLimitBytes: settings.payments.eventLimitBytes,
      explorerUrl: config.relay?.explorerUrl ?? settings.relayHost.explorerUrl,
    },
  });
  const pregenerating = pregeneratingDeps(deps, config);
  const register = createRegisterHost({
    ...frame,
    pregenerateWallet: (wanted) => pregenerateWallet(pregenerating, wanted),
    refuser: createRefuser(registerRefusals, { clock }),
    settings: hostSettings,
  });
  const services = createServices({
    frame,
    businessTime: deps.businessTime,
    token,
    hostSettings,
    caughtUp: deps.caughtUp,
    perks: perksOf(deps, config),
    redeeming: redeemingDeps(deps, config),
    tokens,
    streaks: createStreaks(deps, config),
  });
  const relay = tokens && createRelay({ ...deps, frame, tokens }, config);
  const idle = async () => {
    await Promise.all([submitter.idle(), relay?.idle()]);
  };
  return {
    events,
    register,
    services,
    relay: relay?.host,
    idle,
    lookAtEvent: (submission, at) =>
      lookAtEvent({ ...deciding, ...(at && { businessTime: at }) }, database.db, submission),
  };
}

const pregeneratingDeps = (
  { database, random, wallets, businessTime }: HostsDeps,
  { serviceDomains, addressRequestsMax }: HostsConfig,
) => ({
  database,
  random,
  addressAt: wallets.addressAt,
  businessTime,
  limit: settings.pregenerate,
  ownHosts: serviceDomains,
  countAddress:
    addressRequestsMax === 0
      ? undefined
      : createUseWindows({
          ...settings.addressGate,
          limit: settings.pregenerateAddressMax,
          now: systemClock().now,
        }),
});

const redeemingDeps = (deps: HostsDeps, { ownDomain }: HostsConfig) => {
  const { rpc, facts, checkConstraints, engine, random, crash } = deps;
  const { contracts } = facts;
  return {
    rpc,
    contracts,
    checkConstraints,
    random,
    crash,
    ownDomain,
    readPermit: createPermitReader({ rpc, token: contracts.token }),
    collecting: createCollecting({ rpc, contracts }),
    ownAddresses: ownAddressesOf(deps),
    permitMarginMs: settings.relayHost.permitMarginMs,
    redemptions: engine.redemptions,
    alarms: engine.alarms,
    answerTimeoutMs: settings.answerTimeoutMs,
  };
};

/** The frame around every host's handlers, and what several hosts share. */
function frameOf(deps: HostsDeps, config: HostsConfig) {
  const { database, clock, random, log, observer } = deps;
  return {
    database,
    clock,
    random,
    log,
    observer,
    ownHosts: config.serviceDomains,
    proxies: proxyTrust([...config.proxies]),
    countAddress: addressCounter(config),
    answerOnce: createAnswerOnce({ database, random, realClock: steadyClock() }),
    verifyBrandKey: (authorization: string) => verifyBrandKey({ database, clock }, authorization),
  };
}

/** Questions of strangers that cost more than a look into the ledger: one at a time, whoever asks. */
function sharedQuestions(
  { verifyDns }: HostsDeps,
  { health }: { health: Parameters<typeof reportHealth>[0] },
) {
  const { now } = steadyClock();
  const healths = createSharedAnswers<Health>({ keptMs: settings.healthKeptMs, keysMax: 1, now });
  const lookups = createSharedAnswers<DnsVerification>({ keptMs: 0, keysMax: 0, now });
  return {
    reportHealth: () => healths('', () => reportHealth(health)),
    verifyDns: (domain: string) => lookups(domain, () => verifyDns(domain)),
  };
}

/** The token, whose balances are kept for as long as a block lasts. */
function tokenOf({ rpc, facts }: HostsDeps, { balanceKeptMs: keptMs }: HostsConfig): RewardToken {
  const token = createRewardToken({ rpc, address: facts.contracts.token });
  const { now } = steadyClock();
  const balances = createSharedAnswers<bigint>({ keptMs, keysMax: settings.balancesMax, now });
  return { balanceOf: (account) => balances(account.toLowerCase(), () => token.balanceOf(account)) };
}

/** The perks on chain, whose stocks are kept for as long as a block lasts. */
function perksOf({ rpc, facts }: HostsDeps, { balanceKeptMs: keptMs }: HostsConfig): PerkContract {
  const perks = createPerkContract({ rpc, address: facts.contracts.perks });
  const { now } = steadyClock();
  const stocks = createSharedAnswers<number>({ keptMs, keysMax: settings.balancesMax, now });
  const held = createSharedAnswers<number>({ keptMs, keysMax: settings.balancesMax, now });
  return {
    stockOf: (tokenId) => stocks(`${tokenId}`, () => perks.stockOf(tokenId)),
    heldBy: (account, tokenId) =>
      held(`${account.toLowerCase()} ${tokenId}`, () => perks.heldBy(account, tokenId)),
  };
}

/** One for all hosts: an address has one window, whichever it asks. */
const addressCounter = ({ addressRequestsMax: limit }: HostsConfig) =>
  limit === 0 ? undefined : createUseWindows({ ...settings.addressGate, limit, now: systemClock().now });

/** What events are decided with. */
const decidingDeps = (deps: HostsDeps, config: HostsConfig) => {
  const { database, clock, businessTime, wallets, crash } = deps;
  return {
    database,
    clock,
    businessTime,
    crash,
    addressAt: wallets.addressAt,
    ownHosts: config.serviceDomains,
    ownAddresses: ownAddressesOf(deps),
    streakMultipliers,
    ownDomain: config.ownDomain,
    duplicateWindowMs: config.duplicateWindowMs,
    batchMax: settings.decideBatchMax,
    triesMax: settings.decideTriesMax,
    lockWaitMs: settings.decideLockWaitMs,
  };
};

function rewardingDeps(
  { database, random, clock, engine, crash }: HostsDeps,
  { submitter, answerWhen }: { submitter: ReturnType<typeof createEventSubmitter>; answerWhen: Milestone },
) {
  const { alarms, payouts, progress } = engine;
  const raising = (decision: EventDecision) => {
    raiseEventAlarms({ alarms, clock }, decision);
    return decision;
  };
  return {
    database,
    random,
    answerWhen,
    crash,
    payouts,
    progress,
    submitter: { submit: (event: EventToDecide) => submitter.submit(event).then(raising) },
    answerTimeoutMs: settings.answerTimeoutMs,
  };
}

/** Where one address has the reference of each host; the relay is there where users can log in. */
export const referencesOf = (hasRelay: boolean): ReferenceLink[] => [
  { title: eventsHostContract.title, href: '/docs/events' },
  { title: registerHostContract.title, href: '/docs/register' },
  { title: servicesHostContract.title, href: '/docs/services' },
  ...(hasRelay ? [{ title: relayHostContract.title, href: '/docs/relay' }] : []),
];
