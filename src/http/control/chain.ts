/** The chain over the control API. */
import * as actions from '../../actions/show-chain.ts';
import { listBlocks, showBlock, showChain, showTransaction } from '../../contract/control/chain.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';

export type ControlChainDeps = actions.ShowChainDeps;

export const controlChain = (deps: ControlChainDeps): ControlRoute[] => [
  controlHandler(showChain, () => actions.showChain(deps)),
  controlHandler(listBlocks, ({ query: { limit, before } }) => actions.showBlocks(deps, { limit, before })),
  controlHandler(showBlock, ({ path, query }) => actions.showBlock(deps, { number: path.block, ...query })),
  controlHandler(showTransaction, ({ path: { hash } }) => actions.showTransaction(deps, hash)),
];
