/** Checks the block from which the first start reads the chain. */
import { deploymentBlockAt } from '../chain/indexer/deployed-block.ts';
import type { ChainClient } from '../chain/rpc/client.ts';
import type { Rpc } from '../chain/rpc/rpc.ts';
import type { Facts } from '../ledger/facts.ts';
import { namesOf } from '../lib/setting.ts';
import { startSettings } from './settings.ts';
import type { StartConfig } from './start-config.ts';
import { type Problem, problemOf } from './start-errors.ts';

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
