/** Exchanged operators, emptied blocks, changed literals: Stryker's changes, on the part of an area that a seed chooses. */
import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { MutantResult, PartialStrykerOptions } from '@stryker-mutator/api/core';
import { Stryker } from '@stryker-mutator/core';
import { build } from 'esbuild';
import { seededChance } from '../../kits/run/seeded-chance.ts';
import { type Area, nearTests, sourceFiles } from './areas.ts';
import { isOfTime, type Verdict } from './verdict.ts';

// Most statements fit; what spans two windows is tried in whole runs only.
const WINDOW_LINES = 12;

export interface OperatorOptions {
  /** Share of the source's lines, above 0 to 1. */
  part: number;
  seed: number;
  /** Lines as `file:first-last`, instead of those that the seed chooses. */
  at: readonly string[];
  /** Test runners side by side; each is a process with services and chains of its own. */
  together: number;
  /** Judged by the area's near tests alone, which run in one process. */
  near: boolean;
  /** Also what runs once when a module is loaded; each such change runs all tests, loaded anew. */
  whenLoaded: boolean;
}

/** Tries the changes of one area. Throws when its tests fail without any change. */
export async function tryOperators(area: Area, options: OperatorOptions): Promise<Verdict[]> {
  const mutate = options.at.length > 0 ? [...options.at] : chosenLines(area, options);
  if (mutate.length === 0) return [];
  process.env.REWARDS_MUTATE_TESTS = area.tests.join(' ');
  process.env.REWARDS_MUTATE_NEAR = nearTests(area).join(' ');
  const runner = options.near ? await oneProcessRunner() : undefined;
  const results = await new Stryker(strykerOptions(mutate, options, runner)).runMutationTest();
  return results.flatMap((result) => {
    const outcome = outcomes[result.status];
    return outcome ? [{ area: area.name, outcome, ...told(result) }] : [];
  });
}

const outcomes: Partial<Record<MutantResult['status'], Verdict['outcome']>> = {
  Killed: 'noticed',
  Timeout: 'noticed',
  Survived: 'survived',
  NoCoverage: 'untried',
};

/** The plugin as a file that Stryker's processes can load. */
async function oneProcessRunner(): Promise<string> {
  const outfile = resolve('node_modules/.cache/one-process-runner.mjs');
  const entry = 'test/reliability/mutation/one-process/runner.ts';
  const how = { bundle: true, format: 'esm', platform: 'node', packages: 'external' } as const;
  await build({ entryPoints: [entry], outfile, logLevel: 'warning', ...how });
  return outfile;
}

function strykerOptions(
  mutate: string[],
  { together, whenLoaded }: OperatorOptions,
  runner: string | undefined,
): PartialStrykerOptions {
  return {
    mutate,
    testRunner: runner ? 'one-process' : 'vitest',
    plugins: [runner ?? '@stryker-mutator/vitest-runner'],
    ...(!runner && { vitest: { configFile: 'test/reliability/mutation/vitest.config.ts', related: false } }),
    coverageAnalysis: 'perTest',
    // What runs once when a module is loaded cannot be switched while the process lives.
    ignoreStatic: !whenLoaded,
    concurrency: together,
    // A busy machine is slower in one run than in another: the limit is for what hangs.
    timeoutMS: runner ? 20_000 : 240_000,
    timeoutFactor: runner ? 10 : 3,
    dryRunTimeoutMinutes: 60,
    checkers: [],
    reporters: ['progress-append-only'],
    tempDirName: 'node_modules/.cache/mutation',
    // Tests through the command line run what was built before; what vitest starts builds it itself.
    ignorePatterns: [...(runner ? [] : ['dist']), 'docs', 'bench'],
    // The sandbox stays inside of the project: nothing in it has to be rewritten.
    tsconfigFile: 'none.json',
  };
}

/** As `file:first-last`; each window of lines is taken or left by the seed. */
function chosenLines(area: Area, { part, seed }: OperatorOptions): string[] {
  const chance = seededChance(seed);
  return sourceFiles(area).flatMap((file) => {
    if (part >= 1) return [file];
    const lines = readFileSync(file, 'utf8').split('\n').length;
    const chosen: string[] = [];
    for (let first = 1; first <= lines; first += WINDOW_LINES)
      if (chance.unit() < part) chosen.push(`${file}:${first}-${Math.min(lines, first + WINDOW_LINES - 1)}`);
    return chosen;
  });
}

/** A verdict's place as Stryker takes it: its columns begin at 0 where those that it tells begin at 1. */
export function rangeOf(where: string): string {
  return where.replace(/:(\d+):(\d+)-/, (_, line, column) => `:${line}:${Number(column) - 1}-`);
}

function told({
  fileName,
  location,
  mutatorName,
  replacement,
  status,
  statusReason,
  killedBy,
}: MutantResult): Pick<Verdict, 'where' | 'change' | 'by'> {
  const file = relative(process.cwd(), fileName);
  // A loop without an end is known by how often it ran.
  const isEndless = statusReason?.startsWith('Hit limit');
  const endedByTime = !isEndless && (status === 'Timeout' || isOfTime(statusReason));
  return {
    where: `${file}:${location.start.line}:${location.start.column}-${location.end.line}:${location.end.column}`,
    change: `${mutatorName} → ${(replacement ?? '').replaceAll(/\s+/g, ' ').slice(0, 80)}`,
    by: endedByTime ? 'time' : (killedBy?.[0] ?? statusReason),
  };
}
