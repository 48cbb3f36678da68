/** `npm run bench -- budget`: where the processor time of an event goes, part by part, from a profile of the service. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measure, problemsOf } from '../groups/rounds.ts';
import { eventsOf } from '../groups/subjects.ts';
import { readOptions } from '../options.ts';
import { dayOf, markdownTable, writePart } from '../report/docs.ts';
import { describeMachine, machineText } from '../report/machine.ts';
import { brandsOf, startChain } from '../setup/chain.ts';
import { startGenerator } from '../setup/processes.ts';
import { startIdentity } from '../setup/relay-users.ts';
import { type Bench, stopAll, withScope } from '../setup/scope.ts';
import { startMeasuredService } from '../setup/service.ts';
import { attribute, type Profile, type Window } from './attribute.ts';
import { type BudgetLine, budgetCells, budgetHead, budgetLines, budgetTable } from './report.ts';

const options = readOptions('budget', {
  seconds: { type: 'string', default: '20', help: 'of events, after as many to warm up' },
  callers: { type: 'string', default: '256', help: 'connections, each with one request at a time' },
  dir: { type: 'string', default: tmpdir(), help: 'where the ledger is' },
  json: { type: 'string', help: 'file for the parts' },
  'write-docs': { type: 'boolean', default: false, help: 'puts them into docs/performance.md' },
});
const say = (text: string) => process.stderr.write(`${text}\n`);
const nowUs = () => Number(process.hrtime.bigint() / 1_000n);

/** Profiled from its start to its stop; only the window of the second load counts. */
async function measureBudget(bench: Bench): Promise<BudgetLine[]> {
  return withScope(bench, async ({ folder, started }) => {
    const brands = brandsOf(4);
    const chain = await started(startChain());
    const identity = await started(startIdentity());
    const profile = join(folder, 'profile');
    const plan = { folder, brands, identity: identity.env, profile };
    const service = await started(startMeasuredService(chain, plan));
    const subject = eventsOf(service, { chain, brands });
    const how = { callers: Number(options.callers), seconds: Number(options.seconds) };
    say('warming up');
    await measure(bench.generator, subject, how);
    say('measuring');
    const window: Window = { from: nowUs(), to: 0 };
    const measured = await measure(bench.generator, subject, how);
    window.to = nowUs();
    for (const problem of problemsOf(measured)) say(problem);
    const rewards = await service.stopAndVerify();
    say(`rewards verify: ${rewards} rewards, no difference`);
    const file = readdirSync(profile).find((name) => name.endsWith('.cpuprofile'));
    if (!file) throw new Error('the service wrote no profile');
    const spent = attribute(JSON.parse(readFileSync(join(profile, file), 'utf8')) as Profile, [window]);
    const processUs = (measured.processMs ?? 0) * 1_000;
    return budgetLines(spent, { events: measured.answered, processUs });
  });
}

const stops: (() => Promise<void>)[] = [];
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => void stopAll({ stops, say }).finally(() => process.exit(130)));
try {
  const machine = describeMachine(options.dir);
  const generator = await startGenerator();
  stops.push(() => generator.stop());
  const lines = await measureBudget({ generator, say, dir: options.dir, stops });
  say(`\n${machineText(machine)}\n`);
  console.log(budgetTable(lines));
  if (options.json) writeFileSync(options.json, `${JSON.stringify({ machine, lines }, null, 2)}\n`);
  if (options['write-docs']) {
    const intro = `On ${dayOf(new Date())}: ${machineText(machine)}.`;
    await writePart('budget', `${intro}\n\n${markdownTable(budgetHead, budgetCells(lines))}`);
  }
} finally {
  await stopAll({ stops, say });
}
