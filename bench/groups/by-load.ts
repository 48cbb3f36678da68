/** Events of more and more callers, and their latency at half of the highest rate: each on a chain with nothing in it. */
import { median } from '../report/statistics.ts';
import { type Bench, withScope } from '../setup/scope.ts';
import type { Found } from './found.ts';
import { startOnAnvil } from './on-anvil.ts';
import type { Plan } from './plan.ts';
import { measure, perSecond, problemsOf } from './rounds.ts';

const CONCURRENCIES = [1, 8, 32, 64, 128, 256, 512];
/** Connections of an open loop: more than half of the highest rate ever has open, unless the service stalls. */
const OPEN_CALLERS = 512;

export async function measureConcurrency(bench: Bench, plan: Plan): Promise<Found> {
  return withScope(bench, async (scope) => {
    const { service, subject } = await startOnAnvil(scope, plan);
    const { callers, warmUpSeconds, seconds } = plan;
    await measure(bench.generator, subject, { callers, seconds: warmUpSeconds });
    const concurrency = [];
    for (const callers of CONCURRENCIES) {
      const measured = await measure(bench.generator, subject, { callers, seconds: seconds.concurrency });
      for (const problem of problemsOf(measured)) bench.say(`${callers} callers: ${problem}`);
      const rate = perSecond(measured);
      bench.say(`${callers} callers: ${Math.round(rate)} events a second`);
      concurrency.push({ callers, perSecond: rate, p50Ms: measured.p50Ms, p99Ms: measured.p99Ms });
    }
    const rewards = await service.stopAndVerify();
    bench.say(`rewards verify: ${rewards} rewards, no difference`);
    return { rounds: {}, concurrency };
  });
}

/** `highest`: of the rates that `before` found; without one, a short load says it. */
export async function measureLatency(bench: Bench, plan: Plan, before: Found): Promise<Found> {
  return withScope(bench, async (scope) => {
    const { service, subject } = await startOnAnvil(scope, plan);
    const warm = await measure(bench.generator, subject, {
      callers: plan.callers,
      seconds: plan.warmUpSeconds,
    });
    const rates = [
      median(before.rounds.events?.rate ?? []),
      ...(before.concurrency ?? []).map((one) => one.perSecond),
    ].filter(Number.isFinite);
    const half = Math.round(Math.max(...(rates.length > 0 ? rates : [perSecond(warm)])) / 2);
    const how = { callers: OPEN_CALLERS, seconds: plan.seconds.latency, perSecond: half };
    const measured = await measure(bench.generator, subject, how);
    for (const problem of problemsOf(measured)) bench.say(`latency: ${problem}`);
    bench.say(`${half} events a second arrive: p50 ${measured.p50Ms} ms, p99 ${measured.p99Ms} ms`);
    const rewards = await service.stopAndVerify();
    bench.say(`rewards verify: ${rewards} rewards, no difference`);
    return { rounds: {}, latency: { ...measured, perSecond: half, callers: OPEN_CALLERS } };
  });
}
