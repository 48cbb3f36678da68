/** Opens the recovery of a production ledger: its nodes, the users' key tree, and the accounts whose keys are given. */
import { createChainHistory } from '../../audit/chain-history.ts';
import { keysDerivedFrom, localKeySigner } from '../../chain/lane/local-key.ts';
import type { ChainClient } from '../../chain/rpc/client.ts';
import type { Rpc } from '../../chain/rpc/rpc.ts';
import { pendingMigrations } from '../../ledger/database/migrate.ts';
import type { Facts } from '../../ledger/facts.ts';
import { newestDerivedWallet } from '../../ledger/wallets/wallets.ts';
import { systemClock } from '../../lib/clock.ts';
import { PreconditionError } from '../../lib/failures/precondition.ts';
import { secureRandom } from '../../lib/ids.ts';
import { silentLog } from '../../lib/log.ts';
import { delay } from '../../lib/timers.ts';
import { processName, walletsBelow } from '../pick-adapters.ts';
import type { RecoveryDeps, RecoverySettings } from '../recovery/context.ts';
import { applyRecovery, planRecovery, type RecoveryChoice } from '../recovery/recover.ts';
import { readSecret, type Secret } from '../secrets.ts';
import { startSettings } from '../settings.ts';
import { problemOf } from '../start-errors.ts';
import { migrationsPending } from './control-routes.ts';
import { missing, type OpenLedger, refuseEmulatorLedger } from './open-ledger.ts';

export interface RecoveryGiven {
  nodes: Secret;
  walletsXpub: Secret;
  /** Of the accounts that send; each helps to find what the ledger does not know of it yet. */
  keys: Record<'payout' | 'mint' | 'redemption' | 'relay', Secret>;
  settings: RecoverySettings;
  progress: RecoveryDeps['progress'];
  /** Called after each commit. */
  committed?: () => void;
}

interface Connected {
  chain: ChainClient;
  rpc: Rpc;
  nodes: readonly Rpc[];
  facts: Facts['chain'];
}

/** Throws a PreconditionError when the ledger is not production's, or the key tree not its own. */
export async function openRecovery(
  { database, asked, where }: OpenLedger,
  { connected, cwd, given }: { connected: Connected; cwd: string; given: RecoveryGiven },
) {
  const xpub = await readSecret(startSettings.walletsXpub, { cwd, secret: given.walletsXpub });
  if (xpub === undefined) throw missing('REWARDS_WALLETS_XPUB');
  const rows = {
    payout: startSettings.payoutKey,
    mint: startSettings.mintKey,
    redemption: startSettings.redemptionKey,
    relay: startSettings.relayKey,
  };
  const keyOf = (name: keyof typeof rows) => readSecret(rows[name], { cwd, secret: given.keys[name] });
  const keys = [await keyOf('payout'), await keyOf('mint'), await keyOf('redemption')];
  const relay = await keyOf('relay');
  const wallets = walletsBelow(xpub);
  await asked(async () => {
    await refuseEmulatorLedger(database);
    const pending = await pendingMigrations(database);
    if (pending.length > 0) throw migrationsPending(where, pending);
    const newest = await newestDerivedWallet(database.db);
    const isOther = newest && wallets.addressAt(newest.index).toLowerCase() !== newest.address.toLowerCase();
    if (isOther) throw new PreconditionError(problemOf('E_PROD_WALLETS'));
  });
  const gasKeys = relay === undefined ? undefined : keysDerivedFrom(relay);
  const clock = systemClock();
  const deps: RecoveryDeps = {
    ...connected,
    database,
    history: createChainHistory({ rpc: connected.rpc, contracts: connected.facts.contracts }),
    wallets,
    gasWalletAt: gasKeys && ((index) => gasKeys(index).address),
    ownAccounts: [...keys, relay].flatMap((key) => (key === undefined ? [] : localKeySigner(key).address)),
    random: secureRandom(clock),
    log: silentLog,
    clock,
    settings: given.settings,
    sleep: delay,
    progress: given.progress,
    committed: given.committed ?? (() => {}),
  };
  return {
    /** What `apply` would do; changes nothing. */
    plan: (choice?: RecoveryChoice) => asked(() => planRecovery(deps, choice)),
    apply: (choice?: RecoveryChoice) => asked(() => applyRecovery(deps, processName(), choice)),
  };
}
