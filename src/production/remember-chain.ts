/** The chain that a ledger is of, written down by its first start. */
import type { Database } from '../ledger/database/database.ts';
import { type Facts, readFact, writeFact } from '../ledger/facts.ts';
import type { StartConfig } from './start-config.ts';

/** The first start records the ledger's chain; when several start at once, one of them does. */
export async function rememberChain(
  database: Database,
  config: StartConfig,
  genesisHash: `0x${string}`,
): Promise<Facts['chain']> {
  const { chainId, deploymentBlock, contracts } = config;
  return database.atomically(async (tx) => {
    const known = await readFact(tx, 'chain');
    if (known) return known;
    const facts = { chainId, genesisHash, deploymentBlock, contracts };
    await writeFact(tx, 'chain', facts);
    return facts;
  });
}
