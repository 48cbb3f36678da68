/** Keeps the emulator off production: its ledgers and its chains. Nothing has been written when this refuses. */
import type { ChainClient } from '../../chain/rpc/client.ts';
import { whereIs } from '../../compose/start-problem.ts';
import type { Database } from '../../ledger/database/database.ts';
import { readLedgerOwner } from '../../ledger/facts.ts';
import { DEVELOPMENT_CHAINS, isDevelopmentChain } from '../../lib/development.ts';
import { PreconditionError } from '../../lib/failures/precondition.ts';

/** Throws E_PRODUCTION_LEDGER for a ledger of `start`, or of a real chain. `where` has no secrets. */
export async function refuseProductionLedger(database: Database, where: string): Promise<void> {
  const { owner, chainId } = await readLedgerOwner(database);
  const real = chainId !== undefined && !isDevelopmentChain(chainId);
  if (owner !== 'production' && !real) return;
  throw new PreconditionError({
    code: 'E_PRODUCTION_LEDGER',
    message: real
      ? `The ledger at ${where} belongs to chain ${chainId}, which is not a development chain; nothing was changed in it.`
      : `The ledger at ${where} has brands and was not made by \`rewards serve\`; nothing was changed in it.`,
    fix: 'Give `rewards serve` a database of its own, or leave --database-url out to keep the data in a file.',
  });
}

/** Throws E_REAL_CHAIN for a node of a chain on which the published development keys could be used for real. */
export async function refuseRealChain(chain: Pick<ChainClient, 'chainId'>, rpcUrl: string): Promise<void> {
  const chainId = await chain.chainId();
  if (isDevelopmentChain(chainId)) return;
  throw new PreconditionError({
    code: 'E_REAL_CHAIN',
    message: `The node at ${whereIs(rpcUrl)} is of chain ${chainId}; \`rewards serve\` signs with published keys, so it works on development chains alone (${DEVELOPMENT_CHAINS.join(', ')}).`,
    fix: 'Leave --rpc-url out, or start your node with a development chain id, such as `anvil --chain-id 31337`.',
  });
}
