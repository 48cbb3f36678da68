/** `npm run bench -- endurance`: events at half of the highest rate for a long time, and whether memory and latency stay level. */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { LITTLE_PAST, startOnStandIn } from '../groups/on-stand-in.ts';
import { measure, perSecond, problemsOf } from '../groups/rounds.ts';
import { readOptions } from '../options.ts';
import { writePart, writePicture } from '../report/docs.ts';
import { describeMachine, machineText } from '../report/machine.ts';
import { startGenerator } from '../setup/processes.ts';
import { type Bench, stopAll, withScope } from '../setup/scope.ts';
import { type Endurance, enduranceOf, endurancePictures, enduranceText } from './report.ts';
import { sampleResident } from './resident.ts';

const options = readOptions('endurance', {
  minutes: { type: 'string', default: '30', help: 'of load' },
  rate: {
    type: 'string',
    help: 'events a second; without it, half of what 256 callers manage in 20 seconds',
  },
  callers: { type: 'string', default: '512', help: 'connections at most' },
  dir: { type: 'string', default: tmpdir(), help: 'where the ledger is' },
  json: { type: 'string', help: 'file for samples and minutes' },
  'write-docs': {
    type: 'boolean',
    default: false,
    help: 'puts the result and its pictures into docs/performance.md',
  },
});
const say = (text: string) => process.stderr.write(`${text}\n`);

async function measureEndurance(bench: Bench): Promise<Endurance> {
  return withScope(bench, async (scope) => {
    const { service, subject, nodePid, stopAndVerify } = await startOnStandIn(scope, LITTLE_PAST);
    const highest = perSecond(await measure(bench.generator, subject, { callers: 256, seconds: 20 }));
    const rate = options.rate ? Number(options.rate) : Math.round(highest / 2);
    say(`${rate} events a second for ${options.minutes} minutes`);
    const sampled = sampleResident({ pid: service.pid, chainPid: nodePid });
    const measured = await measure(bench.generator, subject, {
      callers: Number(options.callers),
      seconds: Number(options.minutes) * 60,
      perSecond: rate,
      spanSeconds: 60,
    });
    const samples = sampled();
    const problems = problemsOf(measured);
    for (const problem of problems) say(problem);
    const rewards = await stopAndVerify();
    say(`rewards verify: ${rewards} rewards, no difference`);
    return enduranceOf({ rate, samples, minutes: measured.spans, answered: measured.answered, problems });
  });
}

const stops: (() => Promise<void>)[] = [];
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => void stopAll({ stops, say }).finally(() => process.exit(130)));
try {
  const machine = describeMachine(options.dir);
  const generator = await startGenerator();
  stops.push(() => generator.stop());
  const found = await measureEndurance({ generator, say, dir: options.dir, stops });
  const text = enduranceText(found);
  console.log(text);
  if (options.json) writeFileSync(options.json, `${JSON.stringify({ machine, ...found }, null, 2)}\n`);
  if (options['write-docs']) {
    const pictures = endurancePictures(found);
    for (const { name, svg } of pictures) await writePicture(name, svg);
    const shown = pictures.map(({ name }) => `![${name}](images/performance-${name}.svg)`).join('\n\n');
    await writePart('endurance', `${machineText(machine)}.\n\n${text}\n\n${shown}`);
  }
  if (!found.memory.isLevel || !found.p99.isLevel) process.exitCode = 1;
} finally {
  await stopAll({ stops, say });
}
