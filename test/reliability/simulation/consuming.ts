/** The consumers of one process: production's own, a commit at a time. */
import { consumers, webhooks } from '../../../src/actions/consumers/consumers.ts';
import type { DigestDeps } from '../../../src/actions/consumers/digest.ts';
import { oneCommit } from '../../../src/actions/consumers/run-consumers.ts';
import type { World } from './world.ts';

/** Far more than a run has facts: a position that does not move must not keep a run for ever. */
const COMMITS_MAX = 40;

/** What a process does once it has read blocks; nothing in most seeds. */
export function consumingOf(
  { plan }: World,
  deps: Omit<DigestDeps, 'onQueued' | 'onSetAside'>,
): () => Promise<void> {
  // Seeds with webhooks of their own know how many there are.
  const own = plan.webhooks > 0 ? consumers.filter((one) => one !== webhooks) : consumers;
  const digesting: DigestDeps = { ...deps, onQueued: () => {}, onSetAside: () => {} };
  return async () => {
    for (let commits = 0; plan.consumes && commits < COMMITS_MAX; commits++)
      if (!(await oneCommit(digesting, own))) return;
  };
}
