/** The checks before production starts. Each returns every problem that it sees; a check never changes anything. */
import { paidAheadOfLedger } from '../audit/ahead-of-ledger.ts';
import type { ChainHistory } from '../audit/chain-history.ts';
import { contractProblemText, contractsAt } from '../chain/contracts/deploy.ts';
import { accountPower, type Role } from '../chain/contracts/roles.ts';
import { deploymentBlockAt } from '../chain/indexer/deployed-block.ts';
import type { ChainClient } from '../chain/rpc/client.ts';
import { isRpcError, type Rpc } from '../chain/rpc/rpc.ts';
import type { WalletTree } from '../identity/wallets.ts';
import type { Database, Pooler } from '../ledger/database/database.ts';
import { unsafeDatabaseSettings } from '../ledger/database/durability.ts';
import { pendingMigrations } from '../ledger/database/migrate.ts';
import { type Facts, readFact, readLedgerOwner } from '../ledger/facts.ts';
import { unfinishedRecovery } from '../ledger/recovery/recoveries.ts';
import { nextNonce } from '../ledger/transactions/transactions.ts';
import { newestDerivedWallet } from '../ledger/wallets/wallets.ts';
import { DEV_PROCESSOR, isDevelopmentChain } from '../lib/development.ts';
import { PreconditionError } from '../lib/failures/precondition.ts';
import { namesOf } from '../lib/setting.ts';
import { type Need, roleNeeds } from './contracts/needs.ts';
import { startSettings } from './settings.ts';
import { type StartConfig, unsafeSettings } from './start-config.ts';
import { type Problem, problemOf } from './start-errors.ts';
import { asked, checkDatabaseSessions, databaseProblem } from './start-failure.ts';

/** Codes of temporary problems. */
const TEMPORARY = new Set(['E_START_DATABASE', 'E_START_RPC']);

/** Whether all of these may end by themselves. */
export const isTemporary = (problems: Problem[]) => problems.every(({ code }) => TEMPORARY.has(code));

/** Joins all problems; the first lasting problem gives the code. */
export function startRefused(problems: Problem[]): PreconditionError {
  const lasting = problems.filter(({ code }) => !TEMPORARY.has(code));
  const [first = { code: 'E_INTERNAL', message: '', fix: '' }, ...others] = [
    ...lasting,
    ...problems.filter(({ code }) => TEMPORARY.has(code)),
  ];
  const message = [
    first.message,
    ...others.map(({ code, message, fix }) => `also ${code}: ${message}; ${fix}`),
  ].join('\n');
  return Object.assign(new PreconditionError({ ...first, message }), { details: { problems } });
}

export interface KnownKeys {
  /** Whether the key of this account is published, as in documentation or tools. */
  isKnownAccount: (address: string) => boolean;
  /** Address of a private key. */
  addressOf: (key: `0x${string}`) => `0x${string}`;
}

function gathering() {
  const problems: Problem[] = [];
  const add = (code: string, message: string, fix: string) => problems.push({ code, message, fix });
  return { problems, add };
}

/** Checks that need neither database nor chain. */
export function checkSettings(config: StartConfig, known: KnownKeys, wallets?: WalletTree): Problem[] {
  const { problems, add } = gathering();
  const keys = Object.entries(config.keys);
  for (const [name, key] of keys) {
    if (known.isKnownAccount(known.addressOf(key)))
      add(
        'E_PROD_DEV_KEY',
        `the ${name} key is published in documentation or tools`,
        'make a new key for this account',
      );
  }
  if (
    config.stripeSecretKey === DEV_PROCESSOR.secretKey ||
    config.stripeWebhookSecrets.includes(DEV_PROCESSOR.webhookSecret)
  )
    add(
      'E_PROD_DEV_KEY',
      'the Stripe key or its signing secret is that of the emulator, which everybody knows',
      'take both from the dashboard of Stripe',
    );
  if (wallets && known.isKnownAccount(wallets.addressAt(0)))
    add(
      'E_PROD_DEV_KEY',
      'the wallets belong to a mnemonic that is published in documentation or tools',
      'make a new key tree',
    );
  keys.forEach(([name, key], place) => {
    for (const [other] of keys.slice(place + 1).filter(([, another]) => another === key)) {
      const message = `the ${name} and ${other} accounts have the same key`;
      problems.push(problemOf('E_PROD_SHARED_KEY', { message }));
    }
  });
  for (const file of config.openSecretFiles) {
    const fix = `chmod 0400 ${file}; for a mounted secret, set its default mode to 0400`;
    add('E_PROD_KEY_FILE', `everybody on this machine can read the secret in ${file}`, fix);
  }
  problems.push(...unsafeSettings(config));
  if (config.tlsRejectUnauthorized === '0') problems.push(problemOf('E_PROD_TLS'));
  return problems;
}

/** Checks that the database is reachable, safe and migrated, and that the key tree gives the wallets that users have. */
export async function checkDatabase(
  database: Database,
  wallets: WalletTree | undefined,
  pooler: Pooler,
): Promise<{ problems: Problem[]; facts?: Facts['chain'] | undefined }> {
  const { problems, add } = gathering();
  try {
    problems.push(...(await checkDatabaseSessions(database, pooler)));
    // Through connections of this kind nothing else can be asked for certain.
    if (problems.length > 0) return { problems };
    if ((await readLedgerOwner(database)).owner === 'emulator')
      problems.push(problemOf('E_PROD_EMULATOR_LEDGER'));
    const unsafe = await unsafeDatabaseSettings(database);
    if (unsafe.length > 0)
      add(
        'E_UNSAFE_DATABASE',
        `the database can lose acknowledged commits: ${unsafe.join(', ')}`,
        'turn these settings on, in postgresql.conf and for this user and database',
      );
    const pending = await pendingMigrations(database);
    if (pending.length > 0) {
      const fix = 'run `rewards db migrate` with the same settings';
      add('E_MIGRATIONS_PENDING', `the database lacks ${pending.join(', ')}`, fix);
      return { problems };
    }
    if (await unfinishedRecovery(database.db)) problems.push(problemOf('E_RECOVERY_UNFINISHED'));
    const newest = wallets && (await newestDerivedWallet(database.db));
    if (newest && wallets.addressAt(newest.index).toLowerCase() !== newest.address.toLowerCase())
      problems.push(problemOf('E_PROD_WALLETS'));
    return { problems, facts: await readFact(database.db, 'chain') };
  } catch (error) {
    problems.push(databaseProblem(error, 'its owner, settings and tables'));
    return { problems };
  }
}

/** Checks that every node that answers is of the ledger's chain and has our contracts; `away`: nodes that others stand in for. */
export async function checkChain(
  config: StartConfig,
  nodes: readonly { rpc: Rpc; chain: ChainClient }[],
  ledger: Facts['chain'] | undefined,
): Promise<{ problems: Problem[]; away: Problem[]; genesisHash?: `0x${string}` }> {
  const { problems, add } = gathering();
  const away: Problem[] = [];
  const wrongChain = (message: string) =>
    add('E_PROD_WRONG_CHAIN', message, 'use nodes of the chain that the settings and the ledger name');
  const answers = await Promise.all(
    nodes.map(async ({ chain, rpc }, place) => {
      try {
        const [chainId, first] = [await chain.chainId(), await chain.block(0)];
        const contracts = chainId === config.chainId ? await contractsAt({ rpc }, config.contracts) : [];
        return { place, chainId, genesisHash: first?.hash, contracts };
      } catch (error) {
        if (!isRpcError(error)) throw error;
        return undefined;
      }
    }),
  );
  const reached = answers.filter((answer) => answer !== undefined);
  if (reached.length === 0)
    add('E_START_RPC', 'no chain node answers', 'check the addresses and the network');
  else
    for (const [place, answer] of answers.entries())
      if (!answer)
        away.push(problemOf('E_PROD_NODE_AWAY', { message: `chain node ${place + 1} does not answer` }));
  for (const { place, chainId, genesisHash } of reached) {
    if (isDevelopmentChain(chainId) && !isDevelopmentChain(config.chainId))
      add(
        'E_PROD_DEV_CHAIN',
        `node ${place + 1} is a development chain (${chainId})`,
        'use the nodes of a real chain',
      );
    if (chainId !== config.chainId)
      wrongChain(`node ${place + 1} is of chain ${chainId}, REWARDS_CHAIN_ID says ${config.chainId}`);
    else if (genesisHash === undefined || genesisHash !== (ledger?.genesisHash ?? reached[0]?.genesisHash))
      wrongChain(`node ${place + 1} has another first block than ${ledger ? 'the ledger' : 'node 1'}`);
  }
  if (ledger && ledger.chainId !== config.chainId)
    wrongChain(`the ledger belongs to chain ${ledger.chainId}, REWARDS_CHAIN_ID says ${config.chainId}`);
  for (const [contract, at] of Object.entries(config.contracts)) {
    const before = ledger?.contracts[contract as keyof typeof config.contracts];
    if (before && before.toLowerCase() !== at.toLowerCase())
      wrongChain(`the ledger knows the ${contract} contract at ${before}, the settings say ${at}`);
  }
  for (const { contract, problem } of reached.find(({ contracts }) => contracts.length > 0)?.contracts ??
    []) {
    add(
      'E_PROD_CONTRACTS',
      `${contract} at ${config.contracts[contract]}: ${contractProblemText(problem)}`,
      'check the address; another version of rewards needs newly deployed contracts',
    );
  }
  const genesisHash = reached[0]?.genesisHash;
  return { problems, away, ...(genesisHash && { genesisHash }) };
}

/**
 * Checks that the escrow has not paid the ledger's next sequences. If it has, the ledger is an old copy, or an empty one
 * beside an escrow in use; its rewards would count as paid, and their users would get nothing.
 */
export async function checkSequences(
  history: Pick<ChainHistory, 'paidWord'>,
  deps: { database: Database; chain: ChainClient },
): Promise<Problem[]> {
  const head = await deps.chain.block('latest');
  const paid =
    head &&
    (await asked('the next sequence', () =>
      paidAheadOfLedger(history, { db: deps.database.db, block: head.number }),
    ));
  if (!paid) return [];
  const { sequence, next } = paid;
  return [
    problemOf('E_PROD_LEDGER_BEHIND', {
      message: `the escrow has paid sequence ${sequence}, which this ledger has not given out yet (its next is ${next})`,
    }),
  ];
}

/** The work that each key is for: what it needs of the contracts is checked. */
const WORK_OF: Record<keyof StartConfig['keys'], Need['for']> = {
  payout: 'payouts',
  mint: 'minting',
  relay: 'relay',
  redemption: 'redemption',
};
const RELAY_ROLE: Role = 'perks.RELAYER_ROLE';

/**
 * Checks that no account has sent a transaction that the ledger does not know, in a block or still in a node's pool. If
 * one has, the ledger is an old copy, and would give nonces and sequences a second time, or somebody else has the key.
 */
export async function checkNonces(
  { database, nodes }: { database: Database; nodes: readonly Pick<ChainClient, 'nonce'>[] },
  accounts: readonly `0x${string}`[],
): Promise<Problem[]> {
  const problems: Problem[] = [];
  // Each node has a pool of its own; one of them has to answer.
  const highest = async (nonce: (node: Pick<ChainClient, 'nonce'>) => Promise<number>) => {
    const answers = await Promise.allSettled(nodes.map(nonce));
    const nonces = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    const [first] = answers;
    if (nonces.length === 0 && first?.status === 'rejected') throw first.reason;
    return Math.max(...nonces);
  };
  for (const account of accounts) {
    const mined = await highest((node) => node.nonce(account));
    const used = await highest((node) => node.nonce(account, 'pending'));
    // The ledger is read last: what another replica has sent meanwhile, it has stored before. Of an account that is
    // new to the ledger, only what waits in a pool is strange.
    const next = (await asked('the next nonces', () => nextNonce(database.db, account))) ?? mined;
    if (used <= next) continue;
    const message = `${account} has sent transactions up to nonce ${used - 1}, of which this ledger knows those below ${next}`;
    const fix =
      'use the ledger in its newest state; where that is lost, `rewards recover --plan`; if it is the newest, somebody else has the key of this account';
    problems.push(problemOf('E_PROD_LEDGER_BEHIND', { message, fix }));
  }
  return problems;
}

/** Checks that every account has its role, and that the account whose gas callers spend has no other power. */
export async function checkAccounts(
  deps: { rpc: Rpc; addressOf: KnownKeys['addressOf'] },
  config: StartConfig,
): Promise<Problem[]> {
  const { problems, add } = gathering();
  const accounts = Object.fromEntries(
    Object.entries(config.keys).map(([name, key]) => [name, deps.addressOf(key)]),
  );
  const works = new Set(Object.keys(config.keys).map((name) => WORK_OF[name as keyof typeof WORK_OF]));
  for (const need of await roleNeeds({ rpc: deps.rpc, contracts: config.contracts }, accounts)) {
    if (!need.met && works.has(need.for)) add(need.code, need.problem, need.fix);
  }
  const { relay } = accounts;
  if (!relay) return problems;
  const power = await accountPower({ rpc: deps.rpc, contracts: config.contracts }, relay);
  // Tokens are not looked at: anybody can send them there, and no call that is relayed can move them.
  const roles = [...power.roles].filter((role) => role !== RELAY_ROLE);
  if (roles.length === 0) return problems;
  add(
    'E_PROD_RELAY_POWER',
    `the relay account ${relay} has ${roles.join(', ')}, which its callers could misuse`,
    'revoke its roles, or use another account',
  );
  return problems;
}

const { variable } = namesOf(startSettings.deploymentBlock);
const problem = (message: string, first?: number) =>
  problemOf('E_PROD_DEPLOYMENT_BLOCK', {
    message,
    ...(first !== undefined && { fix: `set ${variable} to ${first}` }),
  });

/**
 * Problems prevent a start; warnings are what could not be checked, or has no effect. A ledger that was started before
 * goes on where it stopped, so only a new one is compared with the chain.
 */
export async function checkDeploymentBlock(
  deps: { nodes: readonly Rpc[]; chain: Pick<ChainClient, 'block'>; ledger: Facts['chain'] | undefined },
  { contracts, deploymentBlock: block }: Pick<StartConfig, 'contracts' | 'deploymentBlock'>,
): Promise<{ problems: Problem[]; warnings: Problem[] }> {
  const { ledger } = deps;
  if (ledger) {
    const message = `${variable} is ${block}, and this ledger was begun with ${ledger.deploymentBlock}, which counts`;
    const warning = { ...problem(message), fix: `set ${variable} to ${ledger.deploymentBlock}` };
    return { problems: [], warnings: ledger.deploymentBlock === block ? [] : [warning] };
  }
  const head = (await deps.chain.block('latest'))?.number ?? 0;
  const seen = await deploymentBlockAt({ nodes: deps.nodes, head }, { contracts, block });
  const nothing = { problems: [], warnings: [] };
  switch (seen.kind) {
    case 'right':
      return nothing;
    case 'not_mined':
      return {
        ...nothing,
        problems: [problem(`${variable} is ${block}, and the newest block is ${seen.head}`)],
      };
    case 'too_early':
    case 'too_late': {
      const what =
        seen.kind === 'too_late'
          ? 'the escrow was there before it, and its deposits until then would never be read'
          : 'none of the contracts was there yet';
      return { ...nothing, problems: [problem(`${variable} is ${block}: ${what}`, seen.first)] };
    }
    case 'unknown': {
      const message = `${variable} is ${block}, which was not checked: no node keeps the state of so old a block`;
      const fix = 'compare it with the receipt of the transaction that deployed the first contract';
      return { ...nothing, warnings: [{ ...problem(message), fix }] };
    }
  }
}
