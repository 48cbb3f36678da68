/** All checks of a start in their order, again while something outside does not answer yet. */
import { createChainHistory } from '../audit/chain-history.ts';
import { nextBlock } from '../chain/indexer/next-block.ts';
import { localKeySigner } from '../chain/lane/local-key.ts';
import { type ChainClient, createChainClient } from '../chain/rpc/client.ts';
import type { Rpc } from '../chain/rpc/rpc.ts';
import type { WalletTree } from '../identity/wallets.ts';
import type { Database } from '../ledger/database/database.ts';
import { everyLane } from '../ledger/transactions/backlog.ts';
import { listRetiredLanes } from '../ledger/transactions/lanes.ts';
import type { Clock } from '../lib/clock.ts';
import { PreconditionError } from '../lib/failures/precondition.ts';
import { delay, stopwatch } from '../lib/timers.ts';
import type { PaymentProcessor } from '../payments/processor.ts';
import {
  checkAccounts,
  checkChain,
  checkDatabase,
  checkDeploymentBlock,
  checkNonces,
  checkSequences,
  checkSettings,
  isTemporary,
  type KnownKeys,
  startRefused,
} from './checks.ts';
import { checkClock } from './clock.ts';
import { askReach } from './reach.ts';
import type { StartConfig } from './start-config.ts';
import { type Problem, problemOf } from './start-errors.ts';
import { asked, outsideProblem } from './start-failure.ts';

/** What the checks ask. */
export interface CheckedParts {
  database: Database;
  /** Each node by itself. */
  nodes: readonly Rpc[];
  rpc: Rpc;
  chain: ChainClient;
  wallets: WalletTree | undefined;
  /** Absent where the service takes no payments. */
  processor: PaymentProcessor | undefined;
  /** The machine's own time. */
  clock: Clock;
  known: KnownKeys;
}

/** Between two tries of the checks, so that what comes up with this process is not asked too often. */
const CHECK_PAUSE_MS = 500;

/** Asks again while the database or the nodes give no usable answer, for the time that is set. */
export async function checkAgain<Seen extends { problems: Problem[] }>(
  config: StartConfig,
  check: () => Promise<Seen>,
): Promise<Seen | { problems: Problem[]; warnings: Problem[]; genesisHash?: undefined }> {
  const elapsedMs = stopwatch();
  for (;;) {
    const isLast = elapsedMs() + CHECK_PAUSE_MS > config.startWaitMs;
    const seen = await check().catch((error: unknown) => ({ problems: [broughtBy(error)], warnings: [] }));
    if (isLast || seen.problems.length === 0 || !isTemporary(seen.problems)) return seen;
    await delay(CHECK_PAUSE_MS);
  }
}

/** The problem that broke the checks off. Throws what is a defect of the program. */
function broughtBy(error: unknown): Problem {
  const problem = outsideProblem(error, 'the checks of a start');
  if (problem) return problem;
  if (!(error instanceof PreconditionError)) throw error;
  const { code, message, fix } = error;
  return { code, message, fix };
}

/** `mode`: what is outside and away keeps a check from passing, and is a warning of a start. */
export async function checkAll(
  config: StartConfig,
  parts: CheckedParts,
  mode: 'check' | 'start',
): Promise<{ problems: Problem[]; warnings: Problem[]; genesisHash?: `0x${string}` }> {
  const { database, nodes, rpc, chain, wallets, clock: machine, known } = parts;
  const ledger = await checkDatabase(database, wallets, config.databasePooler);
  const clock = await checkClock(database, machine);
  const seen = await checkChain(
    config,
    nodes.map((node) => ({ rpc: node, chain: createChainClient(node) })),
    ledger.facts,
  );
  const ofSettings = checkSettings(config, known, wallets);
  const problems = [...ofSettings, ...ledger.problems, ...clock, ...seen.problems];
  const warnings: Problem[] = [];
  const right = {
    settings: ofSettings.length === 0,
    chain: seen.problems.length === 0,
    ledger: ledger.problems.length === 0,
  };
  // The checks of the block, roles and payments need the right contracts on the right chain.
  if (right.chain) {
    const block = await checkDeploymentBlock({ nodes, chain, ledger: ledger.facts }, config);
    problems.push(...block.problems);
    warnings.push(...block.warnings);
    problems.push(...(await checkAccounts({ rpc, addressOf: known.addressOf }, config)));
    if (right.ledger) {
      problems.push(...(await checkRetired(config, parts)));
      problems.push(...(await checkNotBehind(config, { database, nodes, rpc, chain })));
    }
  }
  const outside = await askReach({ ...parts, addressOf: known.addressOf }, config, right, mode);
  const away = [...seen.away, ...outside.problems];
  (mode === 'check' ? problems : warnings).push(...away);
  warnings.push(...outside.warnings);
  return { problems, warnings, ...(seen.genesisHash && { genesisHash: seen.genesisHash }) };
}

/** Checks that no account sends that an operator has retired: its nonces are not looked at any more. */
async function checkRetired(
  { keys }: StartConfig,
  { database, known }: Pick<CheckedParts, 'database' | 'known'>,
): Promise<Problem[]> {
  const retired = await asked('the accounts that are retired', () => listRetiredLanes(database.db));
  return Object.entries(keys).flatMap(([name, key]) => {
    const address = known.addressOf(key);
    const found = retired.find(({ lane }) => lane.toLowerCase() === address.toLowerCase());
    if (!found) return [];
    const message = `the ${name} account ${address} was retired by ${found.retiredBy}: ${found.reason}`;
    return [problemOf('E_PROD_RETIRED_KEY', { message })];
  });
}

/** Checks that the ledger is not an old copy: nothing on chain or in a pool is beyond it. */
async function checkNotBehind(
  config: StartConfig,
  { database, nodes, rpc, chain }: Pick<CheckedParts, 'database' | 'nodes' | 'rpc' | 'chain'>,
): Promise<Problem[]> {
  const history = createChainHistory({ rpc, contracts: config.contracts });
  const behind = await checkSequences(history, { database, chain });
  const keys = Object.values(config.keys).map((key) => localKeySigner(key).address);
  const lanes = new Set([
    ...(await asked('its sending accounts', () => everyLane(database.db))).map(({ address }) => address),
    ...keys,
  ]);
  return [...behind, ...(await checkNonces({ database, nodes: nodes.map(createChainClient) }, [...lanes]))];
}

/**
 * Checks it once more when the next block has come, since that block may hold what waited in a pool that no node of ours
 * showed. Until then nothing is sent.
 */
export async function checkNotBehindAgain(
  config: StartConfig,
  adapters: Pick<CheckedParts, 'database' | 'nodes' | 'rpc' | 'chain'>,
  { after, isOver }: { after: number | undefined; isOver: () => boolean },
): Promise<void> {
  const { blockPollMs: pollMs, firstBlockWaitMs: forMs } = config;
  await nextBlock(adapters.chain, { after, pollMs, forMs, isOver });
  const { problems } = await checkAgain(config, async () => ({
    problems: isOver() ? [] : await checkNotBehind(config, adapters),
  }));
  if (problems.length > 0) throw startRefused(problems);
}
