/** What a service holds in memory once it has rewarded so many events, and whether it still grows. */
import { sampleResident } from '../endurance/resident.ts';
import { thinned, trendOf } from '../endurance/trend.ts';
import { median } from '../report/statistics.ts';
import { type Bench, withScope } from '../setup/scope.ts';
import type { Found } from './found.ts';
import { LITTLE_PAST, startOnStandIn } from './on-stand-in.ts';
import type { Plan } from './plan.ts';
import { measure, problemsOf } from './rounds.ts';

/** Growth over the second half of the events, as a share of what is held: garbage that V8 has not collected moves it by some percent. */
const LEVEL_LIMIT = 0.1;
const CALLERS = 64;
/** No load lasts longer. */
const HOURS_6 = 6 * 3_600;

export async function measureMemory(bench: Bench, plan: Plan): Promise<Found> {
  return withScope(bench, async (scope) => {
    const { service, subject, nodePid, stopAndVerify } = await startOnStandIn(scope, LITTLE_PAST);
    bench.say(`sending ${plan.events} events, and looking at the memory of the service`);
    const sampled = sampleResident({ pid: service.pid, chainPid: nodePid });
    const measured = await measure(bench.generator, subject, {
      callers: CALLERS,
      seconds: HOURS_6,
      most: plan.events,
    });
    for (const problem of problemsOf(measured)) bench.say(`memory: ${problem}`);
    const held = sampled().map(({ serviceMb }) => serviceMb);
    const trend = trendOf(thinned(held.slice(Math.floor(held.length / 2)), 300), LEVEL_LIMIT);
    const residentMb = median(held.slice(-Math.max(1, Math.floor(held.length / 10))));
    const rewards = await stopAndVerify();
    bench.say(`rewards verify: ${rewards} rewards, no difference`);
    return { rounds: {}, memory: { events: measured.answered, residentMb, trend } };
  });
}
