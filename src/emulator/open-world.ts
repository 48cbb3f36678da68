/** Everything of an emulator that its data is made of and that works on it. It can be closed and opened again behind the listeners. */
import { engineSettings, type Overrides, type ServeConfig, settings } from '../compose/config.ts';
import { createService, type Service, type ServiceConfig } from '../compose/create-service.ts';
import { type HostUrls, type ListenerApps, listenerApps } from '../compose/hosts/open-hosts.ts';
import type { Lifecycle } from '../compose/lifecycle.ts';
import type { RequestRecord } from '../http/frame/request-record.ts';
import { atMs } from '../ledger/database/database.ts';
import type { AdjustableClock, Clock, ClockStart } from '../lib/clock.ts';
import { neverCrash } from '../lib/crash-points.ts';
import { createStripe } from '../payments/stripe.ts';
import { createControl } from './control/create-control.ts';
import { keptRequest } from './control/kept-request.ts';
import type { createRequestLog } from './control/request-log.ts';
import type { EarlyNode } from './early-node.ts';
import { faultyVerifier } from './faults/faulty-outside.ts';
import { withFaults, withoutFaults } from './faults/with-faults.ts';
import { openLocalIdentity } from './issuer/local-issuer.ts';
import { type Adapters, pickAdapters } from './pick-adapters.ts';
import { type EmulatedSite, openSite } from './site/open-site.ts';
import type { Snapshots } from './snapshots/create-snapshots.ts';
import { readPeople } from './state/people.ts';
import type { Ready } from './state/ready.ts';
import { DEV_PROCESSOR } from './world/dev-processor.ts';
import { createBrandOpener } from './world/open-brand.ts';
import { openWebhooks } from './world/open-webhooks.ts';
import { perksOnChain } from './world/perks-on-chain.ts';
import { prepareWorld, type Seed, type Seeded } from './world/prepare-world.ts';

/** What lives longer than a world. */
export interface Surroundings {
  config: ServeConfig;
  overrides: Overrides;
  /** Locked by the caller. */
  dataDir: string;
  /** For the first world, where its folder was empty. */
  earlyNode?: EarlyNode | undefined;
  controlToken: string;
  requests: ReturnType<typeof createRequestLog<RequestRecord>>;
  /** Told of every answered request. */
  tell: (record: RequestRecord) => void;
  seed: Seed;
  seedFiles: readonly string[];
  snapshots: Snapshots;
  /** Where the listeners are, once they are open. */
  urls: () => HostUrls | undefined;
}

export interface Beginning {
  /** Else the clock goes on as the ledger has it, or as the config says. */
  clockStart?: ClockStart | undefined;
  /** The data is that of a snapshot: seed files change nothing in it. */
  isRestored?: boolean | undefined;
}

export interface World {
  apps: ListenerApps;
  /** Its own node; undefined for one of the developer's. */
  node: Adapters['node'];
  clock: AdjustableClock;
  /** Tells its parts where callers find them, once the listeners are open; what waited for that begins. */
  connect(urls: HostUrls): Promise<WorldReady>;
  /** Resolves when what its pages have begun to send is answered: before the listeners close. */
  settle(): Promise<void>;
}

/** What the ready line takes from a world. */
export type WorldReady = Omit<Ready, 'pid' | 'urls' | 'controlToken'>;

const LOOPBACK = ['127.0.0.0/8', '::1'];
const SERVICE_DOMAINS = ['127.0.0.1', 'localhost'];

/**
 * Opens a world on the files of its data folder, and makes those that it lacks. The caller stops `lifecycle`, also when
 * this rejects: then nothing of the world works or is open any more, and its files stay.
 */
export async function openWorld(
  surroundings: Surroundings,
  lifecycle: Lifecycle,
  beginning: Beginning = {},
): Promise<World> {
  const { config, overrides, requests, dataDir, earlyNode, controlToken: token } = surroundings;
  const place = { dataDir, earlyNode, watchNesting: overrides.watchNesting, ...beginning };
  const adapters = await pickAdapters(config, place, lifecycle);
  const seed = beginning.isRestored ? { ...surroundings.seed, named: false } : surroundings.seed;
  const { facts, seeded } = await prepareWorld(adapters, seed);
  const ownDomain = config.ownDomain ?? `${settings.serviceName}.localhost`;
  const identity = await openLocalIdentity(adapters, { ...settings.identity, ownDomain });
  const { database, clock, signers, wallets } = adapters;

  const duplicateWindowMs = config.duplicateWindowMs ?? settings.duplicateWindowMs;
  const payments = stripeOfEmulator(clock, overrides);
  const service = createService(
    {
      ...withFaults(adapters),
      facts,
      processor: payments.processor,
      // What a developer moves; the database's own clock is the machine's.
      businessTime: () => atMs(clock.now()),
      signers: {
        ...{ payout: signers.payout, mint: signers.mint, redeem: signers.redemption },
        relay: adapters.keys,
      },
      ownAccounts: Object.values(signers).map(({ address }) => address),
      tokens: faultyVerifier(identity.verifier, adapters.faults),
      crash: overrides.crash ?? neverCrash,
      // The owner of the file owns the lanes, so the lease of a previous, dead process need not run out.
      owner: database.dialect === 'sqlite' ? 'the owner of the file' : undefined,
      observer: { request: keeping(both(requests.add, surroundings.tell)) },
    },
    serviceConfig(config, overrides, { ownDomain, duplicateWindowMs }),
  );
  lifecycle.onStop(() => withoutFaults(adapters, service.stop));
  // The ledger must have read the whole chain before it decides the first event.
  await service.start();
  const { confirmations } = engineSettings(overrides.engine).follow;
  await perksOnChain({ ...adapters, confirmations });

  const site = openSite({ ...adapters, lifecycle }, seeded.fixture);
  let inboxUrl = '';
  const opener = createBrandOpener(adapters, facts.contracts);
  const control = createControl(
    {
      ...{ ...adapters, facts, requests, identity, addressAt: wallets.addressAt },
      processor: adapters.emulatedProcessor.control,
      ...{ site: site.controls, sessionEnds: site.sessionEnds },
      ...opener,
      applyFixture: fixtureApplier({ ...opener, service, adapters, confirmations, inboxUrl: () => inboxUrl }),
      ...{ nudgeWebhooks: service.nudgeWebhooks, caughtUp: service.caughtUp },
      ...{ nudgePerks: service.engine.redemptions.nudge, checkConstraints: service.checkConstraints },
      mints: service.engine.mints,
      ...{ seedFiles: surroundings.seedFiles, snapshots: surroundings.snapshots },
    },
    { token, serviceDomains: SERVICE_DOMAINS, ownDomain, duplicateWindowMs, relay: overrides.relay },
  );
  const { emulatedProcessor } = adapters;
  const others = { control, issuer: identity.issuer, processor: emulatedProcessor, site: site.host };
  return {
    apps: listenerApps(config, { ...service.hosts, ...others }, surroundings.urls),
    ...{ node: adapters.node, clock },
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
    settle: site.settle,
  };
}

const keeping = (take: (record: RequestRecord) => void) => (record: RequestRecord) =>
  take(keptRequest(record, settings.requestLog));

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
