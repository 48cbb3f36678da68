/** What the load generator manages against a server that does nothing but answer: far above what is measured, or it has measured itself. */
import { startBaseline } from '../setup/processes.ts';
import { type Bench, withScope } from '../setup/scope.ts';
import type { Found } from './found.ts';
import type { Plan } from './plan.ts';
import { measure, perSecond } from './rounds.ts';
import { baselineOf } from './subjects.ts';

export async function measureGenerator(bench: Bench, { callers }: Plan): Promise<Found> {
  return withScope(bench, async ({ started }) => {
    const server = await started(startBaseline('answering-server'));
    const subject = baselineOf(server, undefined);
    await measure(bench.generator, subject, { callers, seconds: 1 });
    const measured = await measure(bench.generator, subject, { callers, seconds: 3 });
    const { cpuMs, elapsedMs, processMs = 0 } = measured;
    const busy = { busy: cpuMs / elapsedMs, serverBusy: processMs / elapsedMs };
    return { rounds: {}, generator: { perSecond: perSecond(measured), ...busy } };
  });
}
