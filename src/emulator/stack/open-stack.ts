/** Everything of an emulator that its data is made of and that works on it. It can be closed and opened again behind the listeners. */

import type { Reading } from '../../chain/indexer/types.ts';
import { engineSettings, settings } from '../../compose/config.ts';
import { createService, type Service, type ServiceConfig } from '../../compose/create-service.ts';
import type { Lifecycle } from '../../compose/lifecycle.ts';
import { createLiveStreams } from '../../console/live.ts';
import type { RequestRecord } from '../../http/frame/request-record.ts';
import { atMs } from '../../ledger/database/database.ts';
import type { AdjustableClock, Clock, ClockStart } from '../../lib/clock.ts';
import { neverCrash } from '../../lib/crash-points.ts';
import { DEV_PROCESSOR } from '../../lib/development.ts';
import { every } from '../../lib/timers.ts';
import { createStripe } from '../../payments/stripe.ts';
import type { Ready } from '../../stack/ready.ts';
import { createControl } from '../control/create-control.ts';
import { type createRequestLog, keptRequest } from '../control/request-log.ts';
import type { RequestTally } from '../control/request-tally.ts';
import { faultyVerifier, withFaults, withoutFaults } from '../faults/faulty-adapters.ts';
import { openWebhooks } from '../fixture/seed-ledger.ts';
import type { Jobs } from '../jobs/create-jobs.ts';
import { emulatorLimits } from '../limits.ts';
import { openLocalIdentity } from '../local-issuer.ts';
import { type HostUrls, type ListenerApps, listenerApps } from '../open-hosts.ts';
import { type EmulatedSite, openSite } from '../open-site.ts';
import { type Adapters, pickAdapters } from '../pick-adapters.ts';
import type { PrestartedNode } from '../prestarted-node.ts';
import type { Overrides, ServeConfig } from '../serve-config.ts';
import type { Snapshots } from '../snapshots/create-snapshots.ts';
import { readPeople } from '../state/people.ts';
import { createBrandOpener, perksOnChain, prepareStack, type Seed, type Seeded } from './prepare-stack.ts';

/** What lives longer than a stack. */
export interface StackContext {
  config: ServeConfig;
  overrides: Overrides;
  /** Locked by the caller. */
  dataDir: string;
  /** For the first stack, where its folder was empty. */
  prestartedNode?: PrestartedNode | undefined;
  controlToken: string;
  jobs: Jobs;
  requests: ReturnType<typeof createRequestLog<RequestRecord>>;
  tally: RequestTally;
  /** Told of every answered request. */
  tell: (record: RequestRecord) => void;
  seed: Seed;
  seedFiles: readonly string[];
  snapshots: Snapshots;
  /** Where the listeners are, once they are open. */
  urls: () => HostUrls | undefined;
}

export interface StartOptions {
  /** Else the clock goes on as the ledger has it, or as the config says. */
  clockStart?: ClockStart | undefined;
  /** The data is that of a snapshot: seed files change nothing in it. */
  isRestored?: boolean | undefined;
}

export interface Stack {
  apps: ListenerApps;
  /** Its own node; undefined for one of the developer's. */
  node: Adapters['node'];
  clock: AdjustableClock;
  /** Tells its parts where callers find them, once the listeners are open; what waited for that begins. */
  connect(urls: HostUrls): Promise<StackReady>;
  /** Resolves when what its pages have begun to send is answered: before the listeners close. */
  settle(): Promise<void>;
}

/** What the ready line takes from a stack. */
export type StackReady = Omit<Ready, 'pid' | 'urls' | 'controlToken'>;

const LOOPBACK = ['127.0.0.0/8', '::1'];
const SERVICE_DOMAINS = ['127.0.0.1', 'localhost'];

/**
 * Opens a stack on the files of its data folder, and makes those that it lacks. The caller stops `lifecycle`, also when
 * this rejects: then nothing of the stack works or is open any more, and its files stay.
 */
export async function openStack(
  context: StackContext,
  lifecycle: Lifecycle,
  options: StartOptions = {},
): Promise<Stack> {
  const { config, overrides, requests, tally, dataDir, prestartedNode, controlToken: token } = context;
  const place = { dataDir, prestartedNode, watchNesting: overrides.watchNesting, ...options };
  const adapters = await pickAdapters(config, place, lifecycle);
  const seed = options.isRestored ? { ...context.seed, named: false } : context.seed;
  const { facts, seeded } = await prepareStack(adapters, seed);
  const ownDomain = config.ownDomain ?? `${settings.serviceName}.localhost`;
  const identity = await openLocalIdentity(adapters, { ...settings.identity, ownDomain });
  const { database, clock, wallets } = adapters;

  const duplicateWindowMs = config.duplicateWindowMs ?? settings.duplicateWindowMs;
  const payments = stripeOfEmulator(clock, overrides);
  const service = createStackService(context, {
    adapters,
    facts,
    identity,
    processor: payments.processor,
    names: { ownDomain, duplicateWindowMs },
  });
  lifecycle.onStop(() => withoutFaults(adapters, service.stop));
  // The ledger must have read the whole chain before it decides the first event.
  await service.start();
  const { confirmations } = engineSettings(overrides.engine).follow;
  await perksOnChain({ ...adapters, confirmations });

  const site = openSite({ ...adapters, lifecycle }, seeded.fixture);
  let inboxUrl = '';
  const opener = createBrandOpener(adapters, facts.contracts);
  const live = createLiveStreams({ requests: () => tally.count() + context.jobs.changes(), every });
  lifecycle.onStop(async () => live.close());
  const control = createControl(
    {
      ...adapters,
      live,
      people: () => readPeople(database, seeded),
      urls: context.urls,
      facts,
      requests,
      tally,
      identity,
      addressAt: wallets.addressAt,
      processor: adapters.emulatedProcessor.control,
      site: site.controls,
      sessionEnds: site.sessionEnds,
      ...opener,
      applyFixture: fixtureApplier({ ...opener, service, adapters, confirmations, inboxUrl: () => inboxUrl }),
      ...askedOf(service),
      seedFiles: context.seedFiles,
      snapshots: context.snapshots,
      jobs: context.jobs,
      workbench: config.workbench,
    },
    { token, serviceDomains: SERVICE_DOMAINS, ownDomain, duplicateWindowMs, relay: overrides.relay },
  );
  const { emulatedProcessor } = adapters;
  const others = { control, issuer: identity.issuer, processor: emulatedProcessor, site: site.host };
  return {
    apps: listenerApps(config, { ...service.hosts, ...others }, context.urls),
    node: adapters.node,
    clock,
    async connect(urls) {
      inboxUrl = `${urls.control}/inbox`;
      await connectTo(urls, { adapters, identity, site, payments, service, seeded, inboxUrl });
      return {
        chain: { id: facts.chainId },
        contracts: facts.contracts,
        ...(await readPeople(database, seeded)),
        ...(!seeded.isFirst && seeded.changes.length > 0 && { seedChanges: seeded.changes }),
        processor: { url: new URL(urls.control).origin, ...DEV_PROCESSOR },
        clock: new Date(clock.now()).toISOString(),
        dataDir: adapters.dataDir,
      };
    },
    settle: async () => void (await Promise.all([live.close(), site.settle()])),
  };
}

/** What the control host has of the service. */
const askedOf = ({ hosts, engine, ...service }: ReturnType<typeof createStackService>) => ({
  lookAtEvent: hosts.lookAtEvent,
  alarms: engine.alarms,
  mints: engine.mints,
  nudgePerks: engine.redemptions.nudge,
  nudgeWebhooks: service.nudgeWebhooks,
  caughtUp: service.caughtUp,
  checkConstraints: service.checkConstraints,
});

/** The service itself: that of production, with the stack's adapters and whatever is made to fail. */
function createStackService(
  { config, overrides, requests, tally, tell }: StackContext,
  parts: {
    adapters: Adapters;
    facts: Awaited<ReturnType<typeof prepareStack>>['facts'];
    identity: Pick<Awaited<ReturnType<typeof openLocalIdentity>>, 'verifier'>;
    processor: ReturnType<typeof stripeOfEmulator>['processor'];
    names: Parameters<typeof serviceConfig>[2];
  },
) {
  const { adapters, facts, identity, processor, names } = parts;
  const { database, clock, signers, keys, faults } = adapters;
  return createService(
    {
      ...withFaults(adapters),
      facts,
      processor,
      // What a developer moves; the database's own clock is the machine's.
      businessTime: () => atMs(clock.now()),
      signers: {
        payout: signers.payout,
        mint: signers.mint,
        redeem: signers.redemption,
        relay: keys,
      },
      ownAccounts: Object.values(signers).map(({ address }) => address),
      tokens: faultyVerifier(identity.verifier, faults),
      crash: overrides.crash ?? neverCrash,
      // The owner of the file owns the lanes, so the lease of a previous, dead process need not run out.
      owner: database.dialect === 'sqlite' ? 'the owner of the file' : undefined,
      // Its own chain's blocks are few, or the ledger has them.
      ...(config.rpcUrl && { onReading: (reading: Reading) => config.onBlocks?.('reading', reading) }),
      observer: { request: keeping(both(both(requests.add, tally.add), tell)) },
    },
    serviceConfig(config, overrides, names),
  );
}

const keeping = (take: (record: RequestRecord) => void) => (record: RequestRecord) =>
  take(keptRequest(record, emulatorLimits.requestLog));

/** Identity provider, site and processor learn where they are; the processor begins to work. */
async function connectTo(
  urls: HostUrls,
  parts: {
    adapters: Adapters;
    identity: Pick<Awaited<ReturnType<typeof openLocalIdentity>>, 'announce'>;
    site: Pick<EmulatedSite, 'announce'>;
    payments: Pick<ReturnType<typeof stripeOfEmulator>, 'announce'>;
    service: Pick<Service, 'reachOthers'>;
    seeded: Pick<Seeded, 'fixture'>;
    inboxUrl: string;
  },
): Promise<void> {
  const { adapters, service } = parts;
  const { origin } = new URL(urls.control);
  parts.site.announce(urls);
  parts.identity.announce(`${origin}/_idp`);
  const eventsTo = `${urls.events}${settings.apiPrefix}/payment-mint`;
  await adapters.emulatedProcessor.start({ origin, eventsTo });
  await openWebhooks(adapters, parts.seeded.fixture.brands, parts.inboxUrl);
  parts.payments.announce(origin);
  service.reachOthers();
}

const both =
  <T>(one: (value: T) => void, other: (value: T) => void) =>
  (value: T) => {
    one(value);
    other(value);
  };

/** Applies a fixture while the service runs; resolves when the chain and the endpoints of webhooks follow it. */
const fixtureApplier =
  (deps: {
    applyFixture: ReturnType<typeof createBrandOpener>['applyFixture'];
    service: Pick<Service, 'engine'>;
    adapters: Adapters;
    confirmations: number;
    inboxUrl: () => string;
  }): ReturnType<typeof createBrandOpener>['applyFixture'] =>
  async (fixture) => {
    const changes = await deps.applyFixture(fixture);
    await openWebhooks(deps.adapters, fixture.brands, deps.inboxUrl());
    deps.service.engine.redemptions.nudge();
    await perksOnChain({ ...deps.adapters, confirmations: deps.confirmations });
    return changes;
  };

/** How the service runs in an emulator. */
const serviceConfig = (
  config: ServeConfig,
  overrides: Overrides,
  of: { ownDomain: string; duplicateWindowMs: number },
): ServiceConfig => ({
  // A shop under development is on this machine.
  loopbackReturns: true,
  serviceDomains: SERVICE_DOMAINS,
  // Loopback is trusted, so that a load test can play many users, each with an address.
  proxies: LOOPBACK,
  addressRequestsMax: config.addressRequestsMax ?? 0,
  // A developer who has just sent a transaction must see what it did.
  balanceKeptMs: 0,
  relay: overrides.relay,
  engine: engineOf(config, overrides),
  serviceName: settings.serviceName,
  apiPrefix: settings.apiPrefix,
  httpsOnly: false,
  // With instant blocks, a developer who looks at the chain after the answer must find the reward.
  answerWhen: config.blockTimeSeconds === 0 ? 'included' : 'sent',
  errorDialect: config.errorDialect,
  ...of,
});

function engineOf({ blockTimeSeconds }: ServeConfig, { engine }: Overrides) {
  const { instantBlocks } = settings;
  return engineSettings(
    blockTimeSeconds === 0 ? { ...engine, payout: { ...instantBlocks, ...engine?.payout } } : engine,
  );
}

/** Stripe's package, which asks the emulated processor once it is announced where that is. */
function stripeOfEmulator(clock: Clock, { processorAt = (origin) => origin }: Overrides) {
  let at: URL | undefined;
  const { secretKey, webhookSecret } = DEV_PROCESSOR;
  const address = () => {
    if (!at) throw new Error('the emulated processor is not open yet');
    return { host: at.hostname, port: Number(at.port), protocol: 'http' as const };
  };
  const keys = { secretKey, webhookSecrets: [webhookSecret], livemode: false };
  return {
    processor: createStripe({ clock }, { ...settings.payments, ...keys, address }),
    announce(origin: string) {
      at = new URL(processorAt(origin));
    },
  };
}
