/**
 * Real processes, killed. TORTURE_POINTS: `all`, or names of crash points, or `none`; TORTURE_SCHEDULES: how many
 * random ones; TORTURE_SEED: of the first. TORTURE_REPORT: a file that gets the figures.
 */
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type CrashPoint,
  crashPoints,
  paymentCrashPoints,
  redemptionCrashPoints,
  webhookCrashPoints,
} from '../../../src/lib/crash-points.ts';
import { rpcFaults } from '../../kits/chain/rpc-proxy.ts';
import { postgresMissing, startPostgres } from '../../kits/databases/databases.ts';
import { seededChance } from '../../kits/run/seeded-chance.ts';
import { createDatabase } from './create-database.ts';
import { type Kill, type Outcome, runSchedule, type Schedule } from './schedule.ts';

const everyPoint: readonly CrashPoint[] = [
  ...crashPoints,
  ...webhookCrashPoints,
  ...paymentCrashPoints,
  ...redemptionCrashPoints,
];
const firstSeed = Number(process.env.TORTURE_SEED ?? 1);
const schedules = Number(process.env.TORTURE_SCHEDULES ?? 2);
const points = pointsOf(process.env.TORTURE_POINTS ?? 'lane.stored');
const together = Number(process.env.TORTURE_TOGETHER ?? 2);
const TIMEOUT_MS = 120_000;
/** A machine that does other things as well starts processes later. */
const READY_MAX_MS = Number(process.env.TORTURE_READY_MAX_MS ?? 60_000);

type Kind = 'sqlite' | 'postgres';
const kinds: Kind[] = postgresMissing() ? ['sqlite'] : ['sqlite', 'postgres'];
let server: Awaited<ReturnType<typeof startPostgres>> | undefined;
const outcomes: (Outcome & { name: string })[] = [];

beforeAll(async () => {
  if (kinds.includes('postgres')) server = await startPostgres();
});
afterAll(async () => {
  await server?.stop();
  const report = summary();
  process.stdout.write(`${JSON.stringify(report)}\n`);
  if (process.env.TORTURE_REPORT)
    await writeFile(process.env.TORTURE_REPORT, JSON.stringify(report, null, 2));
});

function pointsOf(text: string): CrashPoint[] {
  if (text === 'all') return [...everyPoint];
  const names = text.split(',').filter((name) => name !== '' && name !== 'none');
  return names.map((name) => {
    const point = everyPoint.find((one) => one === name);
    if (!point) throw new Error(`there is no crash point ${name}`);
    return point;
  });
}

async function run(name: string, kind: Kind, schedule: Omit<Schedule, 'databaseUrl'>): Promise<Outcome> {
  const databaseUrl = kind === 'postgres' && server ? await createDatabase(server.url) : undefined;
  const outcome = await runSchedule({ ...schedule, databaseUrl });
  outcomes.push({ name, ...outcome });
  expect(outcome.violations, `${name} ${JSON.stringify(schedule)}\n${outcome.stderr}`).toEqual([]);
  for (const ms of outcome.readyMs) expect(ms).toBeLessThan(READY_MAX_MS);
  return outcome;
}

/** By whatever is sent, on every lane: a late kill finds work of all of them. */
const isPassedOften = (point: CrashPoint) =>
  /^(?:reserve|follow\.(?!reopened)|lane\.(?!bump)|webhook)/.test(point);

/** A little of everything, so that every life sees some trouble. */
const someFaults = rpcFaults.map((fault) => ({ fault, probability: 0.01 }));

describe.skipIf(points.length === 0).each(kinds)('%s: each crash point once', (kind) => {
  test.concurrent.each(points.length > 0 ? points : everyPoint)(
    '%s',
    { timeout: TIMEOUT_MS },
    async (point) => {
      const schedule = {
        seed: firstSeed,
        kills: [{ point, nth: 1 }],
        blockTimeSeconds: 1,
        faults: someFaults,
      };
      const { missed } = await run(`${kind} ${point}`, kind, schedule);
      // A point that was not reached was not tested.
      expect(missed).toEqual([]);
    },
  );
});

describe.skipIf(schedules === 0)('random schedules', () => {
  const seeds = Array.from({ length: schedules }, (_, n) => firstSeed + n);
  test.concurrent.each(seeds.length > 0 ? seeds : [firstSeed])(
    'seed %i',
    { timeout: TIMEOUT_MS * 2 },
    async (seed) => {
      const chance = seededChance(seed);
      const kind = chance.pick(kinds);
      const kills: Kill[] = Array.from({ length: 1 + chance.below(3) }, () => {
        const point = chance.pick(everyPoint);
        return { point, nth: 1 + chance.below(isPassedOften(point) ? 16 : 4) };
      });
      const faults = rpcFaults.map((fault) => ({ fault, probability: chance.unit() * 0.05 }));
      await run(`seed ${seed}`, kind, { seed, kills, blockTimeSeconds: chance.below(2), faults });
    },
  );
});

function summary() {
  const sum = (of: (one: Outcome) => number) => outcomes.reduce((total, one) => total + of(one), 0);
  const quantiles = (values: number[]) => {
    const sorted = [...values].sort((a, b) => a - b);
    const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
    return { count: sorted.length, p50: at(0.5), p95: at(0.95), max: sorted.at(-1) };
  };
  const reached = new Set(outcomes.flatMap(({ hit }) => hit.map(({ point }) => point)));
  return {
    schedules: outcomes.length,
    kills: sum(({ hit }) => hit.length),
    killsMissed: sum(({ missed }) => missed.length),
    pointsReached: reached.size,
    pointsNeverReached: everyPoint.filter((point) => !reached.has(point)),
    users: sum(({ users }) => users),
    paid: sum(({ paid }) => paid),
    lanes: Object.fromEntries(
      [...new Set(outcomes.flatMap(({ lanes }) => Object.keys(lanes)))].map((lane) => [
        lane,
        sum(({ lanes }) => lanes[lane] ?? 0),
      ]),
    ),
    lostAnswers: sum(({ lostAnswers }) => lostAnswers),
    violations: outcomes.flatMap(({ name, violations }) => violations.map((one) => `${name}: ${one}`)),
    readyMs: quantiles(outcomes.flatMap(({ readyMs }) => readyMs)),
    firstPaymentMs: quantiles(outcomes.flatMap(({ firstPaymentMs }) => firstPaymentMs)),
    together,
  };
}
