/** Measures the service against its baselines in one run and prints a table. docs/performance.md says what each row means. */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { measureGas } from './gas/measure-gas.ts';
import { measureConcurrency, measureLatency } from './groups/by-load.ts';
import { measureConsoleOpen } from './groups/console-open.ts';
import type { Found } from './groups/found.ts';
import { measureGenerator } from './groups/generator-ceiling.ts';
import { measureGrowth } from './groups/growth.ts';
import { measureInstant } from './groups/instant.ts';
import { measureMemory } from './groups/memory.ts';
import { measureOneMachine } from './groups/one-machine.ts';
import { full, type LoadName, loadNames, longLoads, type Plan, quick } from './groups/plan.ts';
import { measurePostgres, measureReplicas } from './groups/postgres.ts';
import { measureStarts } from './groups/starts.ts';
import { readOptions } from './options.ts';
import { writeMeasured } from './report/docs.ts';
import { describeMachine, machineText } from './report/machine.ts';
import { rowsOf } from './report/rows.ts';
import { generatorText, roundsTable, rowsTable } from './report/tables.ts';
import { startGenerator } from './setup/processes.ts';
import { type Bench, stopAll } from './setup/scope.ts';

const options = readOptions('', {
  quick: { type: 'boolean', default: false, help: 'a run of under two minutes, without the long loads' },
  json: { type: 'string', help: 'file for the rows' },
  only: { type: 'string', help: `which of these loads: ${loadNames.join(',')}` },
  database: {
    type: 'string',
    help: 'a Postgres server where databases may be created; without one, its loads are left out',
  },
  callers: { type: 'string', default: '256', help: 'connections, each with one request at a time' },
  brands: {
    type: 'string',
    default: '16',
    help: 'with a gas wallet each, so that relays have as many lanes',
  },
  claims: { type: 'string', default: '1000000', help: 'claims in the largest ledger of growth' },
  events: { type: 'string', default: '1000000', help: 'events of memory' },
  profile: { type: 'string', help: "folder for the service's profile of processor time (.cpuprofile)" },
  dir: { type: 'string', default: tmpdir(), help: "where the ledgers and the baselines' databases are" },
  'write-docs': { type: 'boolean', default: false, help: 'puts what was measured into docs/performance.md' },
});
const say = (text: string) => process.stderr.write(`${text}\n`);

function namesOf(): LoadName[] {
  const asked = options.only?.split(',');
  const unknown = asked?.filter((name) => !loadNames.some((known) => known === name)) ?? [];
  if (unknown.length > 0)
    throw new Error(`--only: ${unknown.join(', ')} is not one of ${loadNames.join(', ')}`);
  if (asked) return loadNames.filter((name) => asked.includes(name));
  return options.quick ? loadNames.filter((name) => !longLoads.includes(name)) : [...loadNames];
}

const plan: Plan = {
  ...(options.quick ? quick : full),
  ...{ names: namesOf(), callers: Number(options.callers), brands: Number(options.brands) },
  ...{ claims: Number(options.claims), events: Number(options.events) },
  ...{ postgres: options.database, profile: options.profile },
};

/** Every group whose loads are asked for, one after another, each with processes of its own. `keep` is told after each. */
async function measureAll(bench: Bench, keep: (found: Found) => void): Promise<Found> {
  const found: Found = { rounds: {} };
  const add = async (group: Promise<Partial<Found>>) => {
    const { rounds, ...more } = await group;
    Object.assign(found, more, { rounds: { ...found.rounds, ...rounds } });
    keep(found);
  };
  const wants = (...names: LoadName[]) => names.some((name) => plan.names.includes(name));
  await add(measureGenerator(bench, plan));
  if (wants('naive', 'events', 'raw', 'relays', 'relays-many')) await add(measureOneMachine(bench, plan));
  if (wants('concurrency')) await add(measureConcurrency(bench, plan));
  if (wants('latency')) await add(measureLatency(bench, plan, found));
  if (wants('instant')) await add(measureInstant(bench, plan));
  if (wants('console')) await add(measureConsoleOpen(bench, plan));
  const { postgres } = plan;
  if (wants('postgres', 'replicas') && !postgres)
    say('without --database postgres://… nothing is measured on Postgres');
  if (wants('postgres') && postgres) await add(measurePostgres(bench, plan, postgres));
  if (wants('replicas') && postgres) await add(measureReplicas(bench, plan, postgres));
  if (wants('growth')) await add(measureGrowth(bench, plan));
  if (wants('gas')) await add(measureGas().then((gas) => ({ gas })));
  if (wants('starts')) await add(measureStarts(bench, plan.starts));
  if (wants('memory')) await add(measureMemory(bench, plan));
  return found;
}

const stops: (() => Promise<void>)[] = [];
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => void stopAll({ stops, say }).finally(() => process.exit(130)));
try {
  const machine = describeMachine(options.dir);
  const generator = await startGenerator();
  stops.push(() => generator.stop());
  if (options.quick && !options.only) say(`--quick leaves out ${longLoads.join(', ')}`);
  // After each group, since the next one may fail.
  const keep = (found: Found) => {
    const report = { machine, rows: rowsOf(found), found };
    if (options.json) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
    return report;
  };
  const found = await measureAll({ generator, say, dir: options.dir, stops }, keep);
  const report = keep(found);
  say(`\n${machineText(machine)}`);
  say(generatorText(found));
  say(`${plan.rounds} rounds, ${plan.callers} callers; medians, with the lowest and highest round\n`);
  say(`${roundsTable(found)}\n`);
  console.log(rowsTable(report.rows));
  if (options['write-docs']) await writeMeasured(report, new Date());
} finally {
  await stopAll({ stops, say });
}
