/** The order of files: those that take long begin first, so that the last of them does not keep one worker busy alone. */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those of more than nine seconds, longest first. What is missing here costs time, and nothing else. */
const LONGEST = [
  'test/scenarios/every-file.test.ts',
  'test/contract/payments/reconciler.test.ts',
  'test/engine/node-fee-cap.test.ts',
  'test/cli/around/exec.test.ts',
  'test/cli/view/live-view.test.ts',
  'test/console/many-rows.test.ts',
  'test/webhooks/documented-receivers.test.ts',
  'test/production/redemptions.test.ts',
  'test/cli/snapshot.test.ts',
  'test/site/browser.test.ts',
  'test/scenarios/export.test.ts',
  'test/accessibility.test.ts',
  'test/production/first-start-page.test.ts',
  'test/sdk/browser.test.ts',
  'test/emulator/faults/node-faults.test.ts',
  'test/emulator/faults/database-faults.test.ts',
  'test/contract/openapi-answers.test.ts',
  'test/webhooks/kills.test.ts',
  'test/contract/relay/gas-charges.test.ts',
  'test/webhooks/hostile-receivers.test.ts',
  'test/cli/serve.test.ts',
  'test/production/running.test.ts',
  'test/emulator/clock/advance.test.ts',
  'test/contract/register/pregenerate.test.ts',
  'test/sdk/adversity.test.ts',
  'test/production/old-copy.test.ts',
  'test/emulator/chain/local-chain-time.test.ts',
  'test/ledger/clocks.test.ts',
  'test/emulator/faults/outside-faults.test.ts',
  'test/cli/webhooks-exactly-once.test.ts',
  'test/engine/mints.test.ts',
  'test/contract/constraints/external-api.test.ts',
  'test/cli/around/completion.test.ts',
  'test/emulator/faults/processor-faults.test.ts',
  'test/scenarios/testing-library.test.ts',
  'test/emulator/chain/large-state.test.ts',
  'test/contract/events/at-once.test.ts',
  'test/contract/services/streak.test.ts',
  'test/production/register.test.ts',
  'test/production/first-reading.test.ts',
  'test/production/request-traces.test.ts',
  'test/contract/events/locked-rows.test.ts',
  'test/production/outages.test.ts',
  'test/solidity/batch-bytes.test.ts',
  'test/actions/batch-events.test.ts',
  'test/solidity/artifacts-fresh.test.ts',
  'test/contract/payments/processor-events.test.ts',
  'test/cli/around/stack-commands.test.ts',
  'test/reliability/stories/every-file-spoilt.test.ts',
  'test/reliability/kills/snapshot-kill.test.ts',
  'test/reliability/kills/relay-kill.test.ts',
  'test/reliability/kills/mint-kill.test.ts',
  'test/reliability/kills/redeem-kill.test.ts',
  'test/reliability/nodes/lossy-node.test.ts',
  'test/reliability/nodes/lane-trouble.test.ts',
  'test/reliability/simulation/simulation.test.ts',
  'test/reliability/processes/crash-schedules.test.ts',
  'test/reliability/processes/postgres-faults.test.ts',
  'test/reliability/processes/replicas.test.ts',
  'test/reliability/nodes/reorganised.test.ts',
  'test/reliability/speed/verify-at-scale.test.ts',
  'test/reliability/kills/sigkill.test.ts',
  'test/reliability/races/one-process.test.ts',
  'test/reliability/kills/local-chain.test.ts',
];

/** The others follow as Vitest orders them: by what they took last time, else by their size. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const gone = LONGEST.filter((path) => !existsSync(`${root}/${path}`));
    if (gone.length > 0) throw new Error(`test/kits/run/longest-first.ts names what is not there: ${gone}`);
    const place = ({ moduleId }: TestSpecification) => {
      const known = LONGEST.indexOf(relative(root, moduleId));
      return known < 0 ? LONGEST.length : known;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}
