/** The stand-in for a node as a process of its own, so that its work is not the service's. */
import { readFileSync } from 'node:fs';
import type { Hex } from 'viem';
import { type HistoryPlan, planHistory } from './history.ts';
import { startStandInNode } from './node.ts';

export interface StandInTask {
  plan: HistoryPlan;
  /** Of each batch's transaction. */
  hashes: Hex[];
}

const { plan, hashes } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as StandInTask;
const node = await startStandInNode(planHistory(plan), hashes);
process.send?.({ url: node.url });
process.on('SIGTERM', () => void node.stop().finally(() => process.exit(0)));
process.on('disconnect', () => process.exit(0));
