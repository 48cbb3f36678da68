/** Builds the emulator's control host: its clock, its requests, its brands and their keys, seed files and snapshots. */
import { readStreakCalendar } from '../../actions/engagement/read-streaks.ts';
import { readEventState } from '../../actions/events/read-event-state.ts';
import { showWallet } from '../../actions/wallets/show-wallet.ts';
import type { Alarms } from '../../chain/alarms.ts';
import { createRewardToken } from '../../chain/contracts/reward-token.ts';
import type { ChainClient } from '../../chain/rpc/client.ts';
import type { Rpc } from '../../chain/rpc/rpc.ts';
import type { HostUrls } from '../../client/host-urls.ts';
import { type RelayOverrides, settings } from '../../compose/config.ts';
import type { LookAtEvent } from '../../compose/hosts/create-hosts.ts';
import { createVerifier } from '../../compose/hosts/create-verifier.ts';
import type { LiveStreams } from '../../console/live.ts';
import type { SnapshotRefusal } from '../../contract/control/refusals/snapshot-refusals.ts';
import type { ControlBrandsDeps } from '../../http/control/brands.ts';
import { createControlHost } from '../../http/control/host.ts';
import type { ControlJobsDeps } from '../../http/control/jobs.ts';
import type { ControlMintsDeps } from '../../http/control/mints.ts';
import type { ControlProcessorDeps } from '../../http/control/processor.ts';
import type { ControlSeedDeps } from '../../http/control/seed.ts';
import type { ControlSiteDeps } from '../../http/control/site.ts';
import type { ControlSnapshotsDeps } from '../../http/control/snapshots.ts';
import type { ControlTokensDeps, ControlWalletsDeps } from '../../http/control/users.ts';
import { atMs, type Database } from '../../ledger/database/database.ts';
import type { Facts } from '../../ledger/facts.ts';
import { readTotals } from '../../ledger/totals.ts';
import type { AdjustableClock, Clock } from '../../lib/clock.ts';
import { PreconditionError } from '../../lib/failures/precondition.ts';
import type { Random } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { AskDeps } from '../../outgoing/ask.ts';
import type { SeedChange } from '../../rules/brands/seed-changes.ts';
import type { CheckConstraints } from '../../rules/constraint.ts';
import { createClockControl } from '../clock/clock-control.ts';
import type { ClockLimit } from '../clock/move-clock.ts';
import type { FaultRegistry } from '../faults/fault-registry.ts';
import { describedSeams } from '../faults/seams.ts';
import { type Fixture, FixtureError, loadFixture, parseFixture, problemText } from '../fixture/fixture.ts';
import { readSeedChanges } from '../fixture/seed-ledger.ts';
import { projectScenarios } from '../jobs/project-scenarios.ts';
import type { Snapshots } from '../snapshots/create-snapshots.ts';
import { SnapshotError } from '../snapshots/snapshot-error.ts';
import type { Workbench } from '../workbench.ts';
import { consolePages, ownCall } from './console-pages.ts';
import { createInbox } from './inbox.ts';
import type { RequestTally } from './request-tally.ts';
import { beginCheckoutOf, dryRunOf, replayOf, sendEventOf } from './send-requests.ts';

interface ControlDeps
  extends Pick<ControlBrandsDeps, 'openEscrow' | 'openGasWallet'>,
    Pick<ControlMintsDeps, 'mints'>,
    SeedingDeps {
  chain: ChainClient;
  rpc: Rpc;
  facts: Facts['chain'];
  clock: AdjustableClock;
  realClock: Pick<Clock, 'now'>;
  /** Where webhooks may go. */
  outgoing: Pick<AskDeps, 'reach'>;
  nudgeWebhooks: () => void;
  /** Resolves when all that blocks show so far has had its consequences. */
  caughtUp: () => Promise<void>;
  /** Perks have terms that the contract has to be told. */
  nudgePerks: () => void;
  checkConstraints: CheckConstraints;
  random: Random;
  log: Log;
  requests: Parameters<typeof createControlHost>[0]['requests'];
  tally: Pick<RequestTally, 'read'>;
  alarms: Pick<Alarms, 'list'>;
  identity: Pick<ControlTokensDeps, 'verifier' | 'issuer' | 'refreshKeys'>;
  addressAt: (index: number) => `0x${string}`;
  processor: Omit<ControlProcessorDeps, 'begin'>;
  site: ControlSiteDeps;
  /** Sessions of the demo site. */
  sessionEnds: ClockLimit;
  faults: FaultRegistry;
  live: LiveStreams;
  /** Brands whose keys are known, and users, as the ready line has them. */
  people: () => Promise<Omit<Parameters<Workbench['recorded']>[1]['stack'], 'contracts'>>;
  urls: () => HostUrls | undefined;
  lookAtEvent: LookAtEvent;
  snapshots: Snapshots;
  jobs: ControlJobsDeps['jobs'];
  workbench: Workbench | undefined;
  /** Makes the chain's time follow a move of the service's clock. */
  syncChain: () => Promise<void>;
}

interface ControlConfig {
  /** Every call must carry it. */
  token: string;
  serviceDomains: readonly string[];
  /** Domain of the stand-in e-mails that users of chat platforms have. */
  ownDomain: string;
  duplicateWindowMs: number;
  /** Other limits of the relay, for tests. */
  relay?: RelayOverrides | undefined;
}

export function createControl(deps: ControlDeps, config: ControlConfig) {
  const { database, clock, random } = deps;
  const businessTime = () => atMs(clock.now());
  const { issuer, ...ofClock } = createClockControl({ ...deps, issuer: deps.identity.issuer }, config);
  const call = ownCall((request) => host.fetch(request), config);
  const readNow = () => readTotals(database.db);
  const brands = async () => (await deps.people()).brands;
  const host = createControlHost({
    pages: consolePages({ call, live: deps.live }),
    ...sendingRequests({ ...deps, brands }, { call, readTotals: readNow, ownDomain: config.ownDomain }),
    changed: deps.live.changed,
    token: config.token,
    allowedHosts: config.serviceDomains,
    log: deps.log,
    caughtUp: deps.caughtUp,
    requests: deps.requests,
    readTotals: readNow,
    readReward: (eventId) => readEventState({ database }, eventId),
    namesOf: (user) => namesOf({ database, ownDomain: config.ownDomain }, user),
    overview: {
      database,
      clockState: clock.state,
      businessTime,
      alarms: deps.alarms.list,
      counted: deps.tally.read,
    },
    brands: managingBrands(deps),
    tokens: {
      ...deps.identity,
      database,
      clock,
      issuer,
      addressAt: deps.addressAt,
      lifetimeMaxMs: settings.identity.tokens.ageMaxMs,
    },
    seed: createSeeding(deps),
    inbox: createInbox(deps),
    processor: { ...deps.processor, begin: beginCheckoutOf({ ...deps, brands }) },
    site: deps.site,
    faults: { ...deps.faults, seams: describedSeams() },
    snapshots: controlledSnapshots(deps.snapshots),
    jobs: deps.jobs,
    scenarios: projectScenarios({ ...deps, call }),
    webhooks: {
      database,
      random,
      reach: deps.outgoing.reach,
      nudge: deps.nudgeWebhooks,
      businessTime,
    },
    chain: { db: database.db, chain: deps.chain, rpc: deps.rpc, facts: deps.facts },
    relay: {
      database,
      ownDomain: config.ownDomain,
      businessTime,
      limits: { ...settings.relayHost, ...config.relay },
    },
    perks: { database, clock, random, reach: deps.outgoing.reach, nudge: deps.nudgePerks },
    wallets: knowingUsers(deps, { ownDomain: config.ownDomain, businessTime }),
    constraints: {
      database,
      ownDomain: config.ownDomain,
      businessTime,
      checkConstraints: deps.checkConstraints,
    },
    limits: { bodyLimitBytes: settings.bodyLimitBytes, duplicateWindowMs: config.duplicateWindowMs },
    verify: createVerifier(deps),
    control: ofClock,
  });
  return host;
}

const managingBrands = ({ database, clock, random, openEscrow, openGasWallet, mints }: ControlDeps) => ({
  database,
  clock,
  random,
  openEscrow,
  openGasWallet,
  mints,
  serviceName: settings.serviceName,
  keyEnvironment: 'dev' as const,
  loopbackDomains: true,
  defaultsFor: 'emulator' as const,
});

const sendingRequests = (
  deps: ControlDeps & Pick<Parameters<typeof replayOf>[0], 'brands'>,
  own: Pick<Parameters<typeof replayOf>[0], 'call' | 'readTotals'> & { ownDomain: string },
) => ({
  replay: replayOf({ ...deps, ...own }),
  sendEvent: sendEventOf(deps),
  dryRun: dryRunOf(deps, own),
});

const knowingUsers = (
  { database, rpc, facts }: ControlDeps,
  own: Pick<ControlWalletsDeps, 'ownDomain' | 'businessTime'>,
): ControlWalletsDeps => ({
  ...own,
  database,
  token: createRewardToken({ rpc, address: facts.contracts.token }),
  readStreak: (key) => readStreakCalendar({ database, ...own }, key),
});

/** Under which a user's requests may name them: as they were asked for, by their key and by their wallet. */
async function namesOf(of: Parameters<typeof showWallet>[0], user: string): Promise<string[]> {
  const found = await showWallet(of, user);
  return found ? [user, found.wallet.userKey, found.wallet.address.toLowerCase()] : [user];
}

interface SeedingDeps {
  database: Database;
  /** The files that the stack was started with; they are read again each time. */
  seedFiles: readonly string[];
  applyFixture: (fixture: Fixture) => Promise<SeedChange[]>;
}

/** What the control API does with seed files. */
const createSeeding =
  (deps: SeedingDeps): ControlSeedDeps['seed'] =>
  async ({ apply, files }) => {
    try {
      const fixture = files ? parseFixture(files) : await loadFixture(deps.seedFiles);
      const changes = apply ? await deps.applyFixture(fixture) : await readSeedChanges(deps, fixture);
      return { changes };
    } catch (error) {
      if (error instanceof FixtureError) return { problems: error.problems.map(problemText) };
      if (error instanceof PreconditionError && error.code === 'E_FIXTURE')
        return { problems: [error.message] };
      throw error;
    }
  };

/** What the control API does with snapshots: the refusals of the emulator as those of the API. */
function controlledSnapshots(snapshots: Snapshots): ControlSnapshotsDeps['snapshots'] {
  return {
    save: (request) => refusing(() => snapshots.save(request)),
    list: () => refusing(snapshots.list),
    show: (name) => refusing(() => snapshots.show(name)),
    diff: (from, to) => refusing(() => snapshots.diff(from, to)),
    file: (name) => refusing(async () => ({ content: await snapshots.file(name) })),
    remove: (name) =>
      refusing(async () => {
        await snapshots.remove(name);
        return { removed: name };
      }),
    undo: () => refusing(snapshots.undo),
    reset: (request) => refusing(() => snapshots.reset(request)),
    restore: (request) => refusing(() => snapshots.restore(request)),
  };
}

async function refusing<T>(work: () => Promise<T>): Promise<T | { refusal: SnapshotRefusal }> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    const { reason: code, message, fix } = error;
    return { refusal: { code, message, fix } };
  }
}
