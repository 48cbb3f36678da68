/**
 * How what settings name outside this program is asked: THE table, a row for each word in the column `reach` of the
 * settings. `start --check` refuses what does not answer as it should; a start warns of it, since a replica that runs
 * must not stay down for something that is away for a while.
 */
import { createServer } from 'node:net';
import type { ChainClient } from '../chain/rpc/client.ts';
import { settings } from '../compose/config.ts';
import { cannotListen } from '../compose/listen.ts';
import { askProvider } from '../identity/provider-keys.ts';
import type { Database } from '../ledger/database/database.ts';
import type { Clock } from '../lib/clock.ts';
import { causeOf } from '../lib/failures/root-cause.ts';
import { namesOf } from '../lib/setting.ts';
import { within } from '../lib/timers.ts';
import type { PaymentProcessor } from '../payments/processor.ts';
import { answersLivez } from './doctor/ports.ts';
import { checkGasMoney, checkPrice } from './gas-money.ts';
import { startSettings } from './settings.ts';
import type { StartConfig } from './start-config.ts';
import { type Problem, problemOf } from './start-errors.ts';
import { asksApi, type Reach } from './start-setting.ts';

type Listening = Pick<StartConfig, 'workers' | 'bindAddress' | 'port' | 'adminBindAddress' | 'adminPort'>;

/** A service of ours that holds the ports already is a warning: it stops before the next one starts. */
async function tryListeners(config: Listening): Promise<{ problems: Problem[]; warnings: Problem[] }> {
  const { bindAddress, port, adminBindAddress, adminPort } = config;
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  let ours: boolean | undefined;
  for (const [address, at, rows] of [
    ...(asksApi(config)
      ? [[bindAddress, port, { address: startSettings.bindAddress, port: startSettings.port }] as const]
      : []),
    [adminBindAddress, adminPort, { address: startSettings.adminBindAddress, port: startSettings.adminPort }],
  ] as const) {
    const cause = await tryToListen(address, at);
    if (cause === undefined) continue;
    if (cause === 'EADDRINUSE') {
      ours ??= await answersLivez({ bindAddress: adminBindAddress, port: adminPort });
      const message = `${namesOf(rows.port).variable}: port ${at} is taken${ours ? ' by the service that runs here' : ''}`;
      const fix = ours
        ? 'stop that service before this one starts'
        : `stop the program that holds it (\`rewards doctor ports\` names it), or choose another with ${namesOf(rows.port).long}`;
      (ours ? warnings : problems).push({ code: 'E_PORT_TAKEN', message, fix });
      continue;
    }
    const problem = cannotListen(cause, { address, port: at });
    problems.push({ ...problem, message: `${namesOf(rows.address).variable}: ${problem.message}` });
  }
  return { problems, warnings };
}

/** The code of the system's refusal; undefined when the place was free. */
function tryToListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'an unknown error'));
    server.listen({ host, port }, () => server.close(() => resolve(undefined)));
  });
}

/** Longer than a healthy provider takes; a person waits for the answer. */
const ANSWER_WITHIN_MS = 8_000;

/** Whether users' tokens could be verified: the issuer is who the settings say, and publishes usable keys. */
async function askIssuer(
  config: Pick<StartConfig, 'workers' | 'identity' | 'identityIssuer' | 'identityJwksUrl'>,
): Promise<Problem[]> {
  const { identity, identityIssuer: issuer, identityJwksUrl: jwksUrl } = config;
  if (identity !== 'oidc' || issuer === undefined || !asksApi(config)) return [];
  const about = (what: string, error: unknown) =>
    problemOf('E_PROD_IDENTITY', { message: `${what}: ${causeOf(error)}` });
  const problems: Problem[] = [];
  const { fetch: limits } = settings.identity;
  await askProvider({ issuer, jwksUrl }, limits).catch((error: unknown) =>
    problems.push(
      about(
        jwksUrl === undefined ? `REWARDS_IDENTITY_ISSUER=${issuer}` : `REWARDS_IDENTITY_JWKS_URL=${jwksUrl}`,
        error,
      ),
    ),
  );
  return problems;
}

/** Whether the processor answers to this key. One of another mode, or withdrawn, is refused by it. */
async function askProcessor(processor: PaymentProcessor | undefined, nowMs: number): Promise<Problem[]> {
  if (!processor) return [];
  const asked = async (): Promise<string | undefined> => {
    try {
      for await (const _ of processor.eventsSince(nowMs)) break;
      return undefined;
    } catch (error) {
      return causeOf(error);
    }
  };
  const answer = await within(
    ANSWER_WITHIN_MS,
    asked().then((cause) => ({ cause })),
  );
  const cause = answer ? answer.cause : `it has not answered after ${ANSWER_WITHIN_MS / 1_000} s`;
  return cause === undefined
    ? []
    : [problemOf('E_PROD_PAYMENTS', { message: `the payment processor cannot be asked: ${cause}` })];
}

interface ReachDeps {
  database: Database;
  chain: Pick<ChainClient, 'block' | 'balanceWei'>;
  processor: PaymentProcessor | undefined;
  clock: Pick<Clock, 'now'>;
  addressOf: (key: `0x${string}`) => `0x${string}`;
}

interface Seen {
  problems: Problem[];
  warnings: Problem[];
}

interface ReachCheck {
  /** What has to be right first: the settings, so that no key goes astray; the chain with our contracts; a ledger that can be read. */
  needs: readonly ('settings' | 'chain' | 'ledger')[];
  /** Asked by a check alone, since a start finds it by itself; by a start too; or by a start once it is ready, which waits for no stranger. */
  by: 'check' | 'start' | 'ready';
  ask: (deps: ReachDeps, config: StartConfig) => Promise<Seen>;
}

const alone = (problems: Problem[]): Seen => ({ problems, warnings: [] });

/** Database and nodes are not in it: the checks of ledger and chain ask them, and a start cannot go on without. */
const reachChecks: Record<Exclude<Reach, 'database' | 'nodes'>, ReachCheck> = {
  listeners: { needs: [], by: 'check', ask: (_deps, config) => tryListeners(config) },
  issuer: { needs: [], by: 'ready', ask: async (_deps, config) => alone(await askIssuer(config)) },
  processor: {
    needs: ['settings'],
    by: 'ready',
    ask: async ({ processor, clock }) => alone(await askProcessor(processor, clock.now())),
  },
  prices: {
    needs: ['chain'],
    by: 'start',
    ask: async ({ chain }, config) => alone(await checkPrice(chain, config)),
  },
  accounts: {
    needs: ['chain', 'ledger'],
    by: 'start',
    ask({ chain, database, addressOf }, config) {
      const accounts = Object.entries(config.keys).map(([name, key]) => [name, addressOf(key)]);
      return checkGasMoney({ chain, db: database.db }, Object.fromEntries(accounts), config);
    },
  },
};

type ReachMode = ReachCheck['by'];

/** Asks all that can be asked in this mode; a check asks everything. */
export async function askReach(
  deps: ReachDeps,
  config: StartConfig,
  right: Record<'settings' | 'chain' | 'ledger', boolean>,
  mode: ReachMode,
): Promise<Seen> {
  const checks = Object.values(reachChecks).filter(
    ({ needs, by }) => (mode === 'check' || mode === by) && needs.every((one) => right[one]),
  );
  const seen = await Promise.all(checks.map(({ ask }) => ask(deps, config)));
  return {
    problems: seen.flatMap(({ problems }) => problems),
    warnings: seen.flatMap(({ warnings }) => warnings),
  };
}
