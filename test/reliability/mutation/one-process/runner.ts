/**
 * Stryker's tests in one process: they are loaded once, and each change is judged by those that reach it, in milliseconds.
 * For tests that need no service, no chain and no module of their own.
 */
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { INSTRUMENTER_CONSTANTS, type InstrumenterContext } from '@stryker-mutator/api/core';
import { declareFactoryPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';
import {
  type DryRunResult,
  DryRunStatus,
  determineHitLimitReached,
  type MutantRunOptions,
  type MutantRunResult,
  type TestResult,
  type TestRunner,
  TestStatus,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner';
import { build } from 'esbuild';
import { textFiles } from '../../../../scripts/bundles.js';
import type { LoadedTest, suitesOf, takeFinishers, takeTests } from './vitest-stand-in.ts';

/** Files of tests, separated by blanks. */
const FILES_VARIABLE = 'REWARDS_MUTATE_NEAR';

/**
 * A test that takes longer does not end under this change. Short, because most that do not end wait for an answer that the
 * change keeps from them; long beside its time without any change, because the machine may be busy now.
 */
const limitMs = (tookMs = 0) => 20_000 + 5 * tookMs;

const HOOK_LIMIT_MS = 30_000;

interface Bundle {
  takeTests: typeof takeTests;
  suitesOf: typeof suitesOf;
  takeFinishers: typeof takeFinishers;
}

function createRunner(): TestRunner {
  const shared = globalThis as unknown as Record<string, InstrumenterContext>;
  // Changed code keeps hold of this object: only its fields may change.
  const stryker: InstrumenterContext = shared[INSTRUMENTER_CONSTANTS.NAMESPACE] ?? {};
  shared[INSTRUMENTER_CONSTANTS.NAMESPACE] = stryker;
  const tookMs = new Map<string, number>();
  let file = '';
  let loads = 0;
  let loaded: Loaded | undefined;
  let thrown: Error | undefined;

  const load = async (): Promise<Loaded> => {
    loads += 1;
    const bundle = (await import(`${pathToFileURL(file).href}?${loads}`)) as Bundle;
    return { ...bundle, tests: bundle.takeTests() };
  };
  const run = async (of: Loaded, names?: readonly string[]): Promise<DryRunResult> => {
    const wanted = new Set(names);
    const chosen = of.tests.filter(({ name }) => !names || wanted.has(name));
    const quickestFirst = chosen.toSorted((a, b) => (tookMs.get(a.name) ?? 0) - (tookMs.get(b.name) ?? 0));
    const tests = await runTests(of, names ? quickestFirst : chosen, {
      limitMs: (name) => (names ? limitMs(tookMs.get(name)) : undefined),
      isOver: (result) => names !== undefined && result.status === TestStatus.Failed,
      takeThrown: () => {
        const error = thrown;
        thrown = undefined;
        return error;
      },
      before: (name) => {
        stryker.currentTestId = name;
      },
    });
    for (const { id, timeSpentMs } of tests) if (!tookMs.has(id)) tookMs.set(id, timeSpentMs);
    return { status: DryRunStatus.Complete, tests };
  };

  return {
    capabilities: () => ({ reloadEnvironment: true }),
    async init() {
      process.on('unhandledRejection', () => undefined);
      // What a timer throws would end the process, and with it this change's judgement: it is that test's fault.
      process.on('uncaughtException', (error) => {
        thrown ??= error;
      });
      file = await bundleTests(process.cwd());
    },
    async dryRun() {
      loaded = await load();
      const result = await run(loaded);
      const { mutantCoverage } = stryker;
      return result.status === DryRunStatus.Complete && mutantCoverage
        ? { ...result, mutantCoverage }
        : result;
    },
    async mutantRun(options: MutantRunOptions): Promise<MutantRunResult> {
      const { activeMutant, hitLimit, mutantActivation, testFilter } = options;
      if (mutantActivation === 'runtime') loaded ??= await load();
      stryker.activeMutant = activeMutant.id;
      Object.assign(stryker, { hitCount: hitLimit === undefined ? undefined : 0, hitLimit });
      try {
        const judges = mutantActivation === 'static' ? await load() : loaded;
        const names = testFilter ?? judges?.tests.map(({ name }) => name) ?? [];
        const result = judges && (await run(judges, names));
        const endless = determineHitLimitReached(stryker.hitCount, hitLimit);
        return toMutantRunResult(
          endless ?? result ?? { status: DryRunStatus.Error, errorMessage: 'not loaded' },
        );
      } catch (error) {
        // What cannot even be loaded is noticed by every test.
        const failed = { id: 'load', name: 'load', timeSpentMs: 0, status: TestStatus.Failed as const };
        return toMutantRunResult({
          status: DryRunStatus.Complete,
          tests: [{ ...failed, failureMessage: String(error) }],
        });
      } finally {
        Object.assign(stryker, { activeMutant: undefined, hitCount: undefined, hitLimit: undefined });
      }
    },
  };
}
createRunner.inject = tokens();

interface Loaded extends Pick<Bundle, 'suitesOf' | 'takeFinishers'> {
  tests: LoadedTest[];
}

/** In this order, each with the hooks of its suites; a suite begins with its first test and ends with the run. */
async function runTests(
  { suitesOf: outwards, takeFinishers }: Loaded,
  tests: readonly LoadedTest[],
  on: {
    before: (name: string) => void;
    /** Undefined where it may take any time. */
    limitMs: (name: string) => number | undefined;
    isOver: (result: TestResult) => boolean;
    /** What was thrown since the last call where nobody catches it. */
    takeThrown: () => Error | undefined;
  },
): Promise<TestResult[]> {
  type Suite = LoadedTest['suite'];
  const begun = new Set<Suite>();
  const results: TestResult[] = [];
  for (const { name, suite, work } of tests) {
    on.before(name);
    const startedMs = performance.now();
    const about = () => ({ id: name, name, timeSpentMs: performance.now() - startedMs });
    const suites = outwards(suite);
    try {
      for (const one of suites.filter((one) => !begun.has(one))) {
        begun.add(one);
        for (const hook of one.hooks.beforeAll) await inTime(hook, HOOK_LIMIT_MS);
      }
      for (const one of suites) for (const hook of one.hooks.beforeEach) await inTime(hook, HOOK_LIMIT_MS);
      on.takeThrown();
      await inTime(work, on.limitMs(name));
      const thrown = on.takeThrown();
      if (thrown) throw thrown;
      results.push({ ...about(), status: TestStatus.Success });
    } catch (error) {
      results.push({ ...about(), status: TestStatus.Failed, failureMessage: String(error).slice(0, 500) });
    } finally {
      for (const finisher of takeFinishers()) await settled(finisher);
      for (const one of suites) for (const hook of one.hooks.afterEach) await settled(hook);
    }
    const last = results.at(-1);
    if (last && on.isOver(last)) break;
  }
  for (const suite of begun) for (const hook of suite.hooks.afterAll) await settled(hook);
  return results;
}

/** What is cut off goes on, until its suite ends. */
function inTime(work: () => unknown, limit: number | undefined): Promise<unknown> {
  const done = Promise.resolve().then(work);
  if (limit === undefined) return done;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`timed out after ${limit} ms`)), limit);
    done.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** What a failed test left behind may not close either, or never. */
const settled = (work: () => unknown) => inTime(work, HOOK_LIMIT_MS).catch(() => undefined);

/** One file with all these tests; each import of it gives them anew. Packages stay outside. */
async function bundleTests(root: string): Promise<string> {
  const files = (process.env[FILES_VARIABLE] ?? '')
    .split(' ')
    .filter(Boolean)
    .map((file) => join(root, file));
  const standIn = join(root, 'test/reliability/mutation/one-process/vitest-stand-in.ts');
  const contents = [
    ...files.map((file) => `import ${JSON.stringify(`begin:${file}`)};\nimport ${JSON.stringify(file)};`),
    `export { takeTests, suitesOf, takeFinishers } from ${JSON.stringify(standIn)};`,
  ].join('\n');
  const outfile = join(root, `near-tests-${process.pid}.mjs`);
  await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    loader: textFiles,
    logLevel: 'error',
    plugins: [
      {
        name: 'own-places',
        setup({ onLoad }) {
          // In one file each still finds what lies beside its source.
          onLoad({ filter: /\/(?:src|test)\/.*\.ts$/, namespace: 'file' }, async ({ path }) => ({
            contents: (await readFile(path, 'utf8')).replaceAll(
              'import.meta.url',
              JSON.stringify(pathToFileURL(path).href),
            ),
            loader: 'ts',
          }));
        },
      },
      {
        name: 'vitest-stand-in',
        setup({ onLoad, onResolve }) {
          onResolve({ filter: /^begin:/ }, ({ path }) => ({
            path: path.slice('begin:'.length),
            namespace: 'begin',
          }));
          onLoad({ filter: /./, namespace: 'begin' }, ({ path }) => ({
            contents: `import { beginFile } from 'vitest';\nbeginFile(${JSON.stringify(relative(root, path))});`,
            resolveDir: root,
          }));
          onResolve({ filter: /^vitest$/ }, ({ importer }) =>
            importer === standIn ? { path: 'vitest', external: true } : { path: standIn },
          );
        },
      },
    ],
  });
  return outfile;
}

export const strykerPlugins = [declareFactoryPlugin(PluginKind.TestRunner, 'one-process', createRunner)];
