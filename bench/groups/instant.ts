/** Events of `rewards serve` as it comes: its own Anvil with a block for each transaction, its journal, its control API. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hex } from 'viem';
import { createRpc } from '../../src/chain/rpc/rpc.ts';
import { settings } from '../../src/compose/config.ts';
import { REWARD } from '../setup/chain.ts';
import { startBaseline, startProgram } from '../setup/processes.ts';
import { type Bench, withScope } from '../setup/scope.ts';
import { verified } from '../setup/service.ts';
import type { Found } from './found.ts';
import type { Plan } from './plan.ts';
import { inTurns, type Subject } from './rounds.ts';
import { allPaid, baselineOf, eventLoad } from './subjects.ts';

/** The brand of a `serve` that is measured, and the seed file that it comes from. */
export const serveBrand: { brandId: Hex; domain: string } = {
  brandId: `0x${'b1'.repeat(20)}`,
  domain: 'many.example',
};
export const serveFixture = `brands:
  - name: Many
    brandId: "${serveBrand.brandId}"
    domains: [${serveBrand.domain}]
    escrow: 1000000000
    events:
      form_submit: { reward: ${REWARD}, maxClaims: unlimited, cooldown: 0 }
`;

export async function measureInstant(bench: Bench, plan: Plan): Promise<Found> {
  return withScope(bench, async ({ folder, started }) => {
    const naive = await started(startBaseline('sqlite-server', join(folder, 'naive.sqlite')));
    writeFileSync(join(folder, 'seed.yaml'), serveFixture);
    const serve = await started(
      startProgram(
        ['serve', '--quiet', '--port', '0', '--rpc-port', '0', '--persist-to', 'data', '--seed', 'seed.yaml'],
        { env: {}, cwd: folder, profile: plan.profile },
      ),
    );
    const rpc = createRpc({ url: serve.urls.rpc, ...settings.rpc, timeoutMs: 30_000 });
    const instant: Subject = {
      load: eventLoad([serve.url], serveBrand),
      pids: [serve.pid],
      settled: allPaid(rpc, { contracts: serve.contracts, brands: [serveBrand] }),
    };
    const { callers } = plan;
    const { 'naive-instant': naiveRounds, instant: rounds } = await inTurns({
      ...bench,
      subjects: { 'naive-instant': baselineOf(naive, serveBrand), instant },
      names: ['naive-instant', 'instant'],
      rounds: plan.rounds,
      warmUpSeconds: plan.warmUpSeconds,
      seconds: { 'naive-instant': plan.seconds.naive, instant: plan.seconds.events },
      callers: { 'naive-instant': callers, instant: callers },
    });
    const rewards = await verified({ env: {}, cwd: folder });
    bench.say(`rewards verify: ${rewards} rewards of serve, no difference`);
    return { rounds: { 'naive-instant': naiveRounds, instant: rounds } };
  });
}
