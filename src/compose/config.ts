/** The config of a service. Every limit is here, with its reason. */
import manifest from '../../package.json' with { type: 'json' };
import type { ChainEngineSettings } from '../chain/engine.ts';
import { rpcLimits } from '../chain/rpc/rpc.ts';
import type { RateLimit } from '../ledger/limits/rate-windows.ts';

/** Overrides of the relay's limits. */
export interface RelayOverrides {
  budgetGwei?: number;
  userShare?: number;
  answerTimeoutMs?: number;
  feeCapWei?: bigint;
  explorerUrl?: string;
  userLimit?: RateLimit;
  addressLimit?: RateLimit;
}

/** Overrides of the chain engine's settings, for tests. */
export type EngineOverrides = {
  [Part in 'payout' | 'lane' | 'relay' | 'mint' | 'redeem' | 'fees' | 'follow']?: Partial<
    ChainEngineSettings[Part]
  >;
};

export const settings = {
  /** Contract: path prefix and service name. */
  apiPrefix: '/rewards-api',
  serviceName: 'rewards',
  /** The program's name in the answer of `debug`. */
  workerVersion: `rewards/${manifest.version}`,
  /** Contract: Limits, Request body. */
  bodyLimitBytes: 10 * 1024,
  /** Contract: Limits, Duplicate detection window. */
  duplicateWindowMs: 60_000,
  /** Contract: Limits, pregenerate-user; new wallets of one brand. */
  pregenerate: { limit: 100, windowMs: 60_000 },
  /** New wallets of one address without a brand's key, in the same minute: fewer than all such callers may have together. */
  pregenerateAddressMax: 20,
  addressGate: {
    windowMs: 60_000,
    /** Windows kept in memory, some 10 MB; above it, the one that began first is forgotten. */
    subjectsMax: 100_000,
  },
  /** A probe's second look within it would see nothing else; more often, anybody could make a node answer. */
  healthKeptMs: 1_000,
  /** Balances that are kept at once, some 1 MB. */
  balancesMax: 10_000,
  provenDomains: {
    /** Name servers lose records for minutes or hours: misses within this time count once … */
    lookEveryMs: 8 * 3_600_000,
    /** … and with the last of them the domain is unlinked, a day after the first. */
    missesMax: 4,
    /** Where DNS gave no answer: long enough for an outage to pass, far shorter than the time of one miss. */
    retryMs: 10 * 60_000,
    /** The clock of an emulator may be moved at any moment; a look at it costs nothing. */
    pollMs: 200,
  },
  constraints: {
    /** Questions to one URL of a brand at once: a small server copes, and buyers are few at a moment. */
    atOnce: 8,
    /** A URL that gave no answer is not asked again for so long: the next buyers are told at once. */
    restMs: 10_000,
    /** How long a buyer waits for a turn; as long as a question may take. */
    waitMs: 5_000,
    /** The note that a question is under way; longer than its turn and the question together. */
    questionMs: 60_000,
    looks: {
      /** Contract: chat levels and roles invalidate results every 5 minutes. */
      lookEveryMs: 5 * 60_000,
      /** The clock of an emulator may be moved at any moment; a look at it costs nothing. */
      pollMs: 200,
      /** Results of one look; those that last longest come first. */
      looksMax: 10_000,
      /** Questions to the chat provider at once: few enough for its limits. */
      chatAtOnce: 4,
      /** Of one question: a buyer waits no longer for a brand's server either. */
      chatAnswerMs: 5_000,
      /** One after the other without an answer: the provider is away, and with so many the look ends before the next is due. */
      chatFailuresMax: 100,
    },
  },
  consumers: {
    /** Blocks that another process books come once a second or more slowly; those of this process ring. */
    idlePollMs: 1_000,
    /** A commit takes a few milliseconds, and requests that wait get as many between two of a backlog. */
    pauseMs: 15,
    /** A board that is read right after a payout waits for it, some milliseconds; longer than this it is shown as it is. */
    readWaitMs: 2_000,
  },
  webhooks: {
    /** Enough to keep up with a healthy receiver, few enough for a small one. */
    atOnceOfEndpoint: 4,
    /** Some KB each while a receiver takes its time, so that dozens that hang leave room for all others. */
    atOnce: 256,
    /** Renewed while an attempt takes longer; what a process that was killed had under way waits so long for another one. */
    leaseMs: 10_000,
    /** An outage of the database in which an answer has come: as long as callers wait, and twice an attempt. */
    answerTriesMs: 30_000,
    /** What another process queued, and what became due, is looked for this often. */
    pollMs: 500,
    /** Answers that share one commit. */
    recordMax: 200,
    /** How long attempts and what they delivered can be looked up. */
    keptMs: 30 * 86_400_000,
    /** Rows that one commit deletes, so that nothing waits for it. */
    trimMax: 500,
    /** How often the log is trimmed and endpoints that were turned off are looked for, in real time. */
    lookEveryMs: 15_000,
    /** What a stop waits for receivers that have not answered; they get the same event again. */
    stopWaitMs: 2_000,
  },
  /** Events decided in one commit: large enough that the fsync is shared, small enough to answer in milliseconds. */
  decideBatchMax: 400,
  /** Attempts of one commit. Each conflict means that another process made progress; this many in a row mean a fault, so the caller gets an error. */
  decideTriesMax: 10,
  /** How long a round waits for the row of a brand that another transaction has locked: longer than any round of another process takes, shorter than a caller of another brand notices. Then it is decided without that brand, which has rounds of its own. */
  decideLockWaitMs: 200,
  /** Types of streaks that a user may have with a brand: callers choose the name, and each is a row. */
  streakTypesMax: 20,
  /** How long a caller waits for its transaction before it is told that the chain is late. */
  answerTimeoutMs: 15_000,
  /** How often the ledger is asked about rewards that another process pays. */
  progressPollMs: 200,
  payout: {
    /** 400 rewards to new holders take 11 M gas; a transaction may have 16.7 M (EIP-7825). */
    batchMax: 400,
    /** Nodes refuse what offers more than 1 of the native coin (`txfeecap`), unless they are set otherwise. */
    offerMaxWei: 9n * 10n ** 17n,
    /** How long the lane sleeps without a nudge and without work that is due; in one process a nudge is never missing. */
    idlePollMs: 1_000,
    /** Longer than a block takes and a full queue in front; a user has been told of it, and a person should know. */
    waitingMaxMs: 60_000,
  },
  instantBlocks: {
    /** Their block is booked within milliseconds; a batch whose block does not come, such as while mining is off, holds up the next for so long. */
    blockWaitMs: 1_000,
  },
  lane: {
    /** Public nodes keep 16 pending transactions of one account; our own Anvil keeps all, and has blocks of a second. */
    inFlightMax: 64,
    /** Longer than any pause of a healthy process, short enough that another one pays within 3 s. */
    leaseMs: 2_000,
    /** A block or two: nodes may have missed bytes that are in no block by then. */
    resendAfterMs: 4_000,
    /** Bytes that nodes have and no block takes: the offer is too low. */
    bumpAfterMs: 20_000,
    /** Longer than any overload of a node; then a person should know that everything behind it waits. */
    untakenAfterMs: 60_000,
  },
  relay: {
    /** Transactions that share one fsync; with more, the first would only wait for the last. */
    storeMax: 16,
    idlePollMs: 1_000,
    /** A wallet that is full lasts for longer than this even at the fee cap. */
    gasCheckMs: 15_000,
    /** Ten calls of a million gas at the fee cap cost 1; what is left when a top-up begins has to last a block or two. */
    gasLowWei: 10n ** 18n,
    gasFullWei: 3n * 10n ** 18n,
  },
  mint: {
    /** Transactions that share one fsync, as for relays; payments are rarer than that. */
    storeMax: 16,
    idlePollMs: 1_000,
    /** A role or a cap is given by a person: asking more often only costs the node. */
    refusedRetryMs: 5_000,
    /** Each refusal doubles the pause; what was granted meanwhile is seen within a minute. */
    refusedRetryMaxMs: 60_000,
    /** Longer than any block takes; somebody has paid for it, and a person should know. */
    waitingMaxMs: 60_000,
  },
  redeem: {
    /** Transactions that share one fsync, as for relays; a sale of a popular perk has hundreds at once. */
    storeMax: 32,
    idlePollMs: 1_000,
    /** A role is given by a person, as for mints. */
    refusedRetryMs: 5_000,
    refusedRetryMaxMs: 60_000,
    /** Longer than any block takes; a user waits in front of the perk. */
    waitingMaxMs: 60_000,
    /** The user has left long before, and RWT and stock that are kept for nobody are somebody else's. */
    giveUpAfterMs: 10 * 60_000,
    /** How often what waits for too long is looked for; a fraction of that time. */
    giveUpLookMs: 5_000,
  },
  fees: { feeCapWei: 100n * 10n ** 9n, priorityFeeWei: 10n ** 9n },
  /** Blocks of others may be seen this late; our own transactions nudge the follower. */
  follow: { confirmations: 1, finalityBlocks: 64, idlePollMs: 250, busyPollMs: 5 },
  relayHost: {
    /** Contract: Limits, Relay transactions. */
    userLimit: { scope: 'relay user', limit: 35, windowMs: 3_600_000 },
    /** Contract: Limits, Relay API requests. */
    addressLimit: { scope: 'relay address', limit: 100, windowMs: 60_000 },
    /** Contract: Limits, Relay gas and Relay gas price. */
    gasMax: 1_000_000,
    feeCapWei: 100n * 10n ** 9n,
    /** The most that a brand's users may spend in a day, in gwei: 10 of the chain's currency, some 100 of the dearest calls. */
    budgetGwei: 10_000_000_000,
    /** Of that, the part of one user: twenty users at once before a brand's day is over, and more than any of them needs. */
    userShare: 0.05,
    /** Calls of one commit: whom a block has answered come again together. Where a budget runs out, each takes up to five statements under its payer's lock, for which other processes wait little more than a second. */
    admitBatchMax: 128,
    /** The next block or two. */
    permitMarginMs: 10_000,
    /** How long a caller waits for the block; most clients wait as long for an answer. */
    answerTimeoutMs: 30_000,
    /** The calldata of the allowed functions has a few hundred bytes. */
    bodyLimitBytes: 64 * 1024,
    /** Longer than the longest window, so that cleaning up never deletes a use that still counts. */
    windowsKeptMs: 2 * 3_600_000,
    /** The emulator's chain has no explorer; the address shows what an answer looks like. */
    explorerUrl: 'https://explorer.rewards.localhost',
  },
  payments: {
    /** Of one request to the processor; the processor's own is 80 s, and a caller waits for us. */
    timeoutMs: 10_000,
    /** After an outage or a lost answer, by the processor's package, under the same idempotency key. */
    retriesMax: 2,
    /** After an answer that says that too many requests were sent. Later tries are the caller's, or the reconciler's. */
    limitedPausesMs: [500, 1_000, 2_000],
    /** What the processor gives a session. */
    lifetimeMs: 24 * 3_600_000,
    /** Its event comes within seconds of a payment, which takes a minute or so. */
    firstLookMs: 2 * 60_000,
    /**
     * Most buyers pay within minutes, and hardly any after hours: some fifty looks at a page that nobody pays. What an
     * event calls paid is as new as the event.
     */
    lookPauses: [
      { untilAgeMs: 10 * 60_000, everyMs: 60_000 },
      { untilAgeMs: 3_600_000, everyMs: 5 * 60_000 },
      { untilAgeMs: 6 * 3_600_000, everyMs: 30 * 60_000 },
      { untilAgeMs: 24 * 3_600_000, everyMs: 3_600_000 },
    ],
    /** Debits and transfers take days: nobody waits for the minute. */
    lateLookEveryMs: 3_600_000,
    /** The slowest ways to pay are decided within two weeks. */
    lateLooksMs: 14 * 86_400_000,
    /** Of one process; with answers of 200 ms, what the next line lets it ask. */
    looksAtOnce: 8,
    /** Of one process. Stripe takes 25 questions a second with test keys and 100 with live ones, callers' own among them. */
    looksPerSecond: 15,
    /** While the processor answers nothing, one look in so long tells that it is back. */
    awayLookEveryMs: 5_000,
    /** Longer than a look with all its tries; only a look whose process ended waits for it. */
    lookClaimMs: 2 * 60_000,
    eventsEveryMs: 60_000,
    /** As long as the processor sends an event again by itself. */
    eventsBackMs: 3 * 86_400_000,
    eventsOverlapMs: 3_600_000,
    skewMs: 5 * 60_000,
    pollMs: 1_000,
    /** As long as the processor keeps idempotency keys: a request may be repeated until then. */
    unattachedMs: 24 * 3_600_000,
    /**
     * While some checkout has no session. No buyer has the page of such a session, so what asks is a stranger who guesses,
     * or a processor's event, whose session the looks find as well.
     */
    unknownAsksPerMinute: 6,
    /** Checkouts that callers without the brand's key may have open at a time. */
    openCheckouts: {
      /** A person has one or two; an office behind one address some more. */
      ofAddress: 20,
      /** More than any shop's unpaid carts of a day; looked at by the schedule above, half a question a second. */
      ofBrand: 1_000,
    },
    /** An event has a session or a charge with up to 50 entries of metadata of 500 characters each. */
    eventLimitBytes: 64 * 1024,
  },
  rpc: rpcLimits,
  identity: {
    keys: {
      /** A withdrawn key stays in use for at most a minute while the provider can be reached. */
      freshMs: 60_000,
      /** Users do not notice a provider that is away for up to ten minutes. */
      staleMs: 10 * 60_000,
      /** A new key is accepted within a second, and callers cannot make the service ask more often. */
      cooldownMs: 1_000,
    },
    /** A key set is a few kilobytes, and a caller waits for it. */
    fetch: { timeoutMs: 3_000, bytesMax: 256 * 1024 },
    tokens: {
      audience: 'rewards',
      types: ['at+jwt'],
      scopeNeeded: true,
      toleranceMs: 5_000,
      /** The emulator's tokens may live long: its clock is moved by days. */
      ageMaxMs: 30 * 86_400_000,
    },
  },
  connections: {
    /** 22 KB each: 110 MB when all of them are slow. Balancers open some hundreds. */
    connectionsMax: 5_000,
    /**
     * Requests behind the one that is being answered; more close the connection behind the answer to the last of them.
     * Browsers and proxies send none, and each costs some KB.
     */
    waitingMax: 16,
    /** How long such a client has to take its answers: some round trips on the worst of lines. */
    lingerMs: 1_000,
    /** A body has a few KB: seconds on the worst of lines. */
    requestTimeoutMs: 15_000,
    headersTimeoutMs: 10_000,
    /** How often the two above are looked after. */
    checkEveryMs: 1_000,
    /** Balancers keep theirs for 60 s; one that is closed on our side first becomes a 502 there. */
    keepAliveMs: 75_000,
    /** A client that neither sends nor takes anything for longer than any answer needs. */
    silenceMs: 120_000,
  },
  /** Stopping waits this long for requests under way. */
  drainTimeoutMs: 4_000,
} as const;

/** The engine's settings, with a test's overrides. */
export const engineSettings = (overrides: EngineOverrides = {}): ChainEngineSettings => ({
  payout: { ...settings.payout, ...overrides.payout },
  lane: { ...settings.lane, ...overrides.lane },
  relay: { ...settings.relay, ...overrides.relay },
  mint: { ...settings.mint, ...overrides.mint },
  redeem: { ...settings.redeem, ...overrides.redeem },
  fees: { ...settings.fees, ...overrides.fees },
  follow: { ...settings.follow, ...overrides.follow },
  progressPollMs: settings.progressPollMs,
});
