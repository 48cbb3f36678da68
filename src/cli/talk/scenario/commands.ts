/** `rewards scenario`. */
import { durationMs, gather, option, wholeNumberOf } from '../../machine/options.ts';
import { from, type Verbs } from '../../machine/verb.ts';

const run = from(() => import('./run.ts'));
const lint = from(() => import('./lint.ts'));
const exporting = from(() => import('./export.ts'));
const record = from(() => import('./record.ts'));

const FILES = 'files, or folders that are searched for *.yaml; default: scenarios';

export const scenarioCommands: Verbs = {
  scenario: {
    summary: 'run scenarios: files of steps and what must come of them',
    description:
      'A scenario is a YAML file: events, purchases, relayed calls, moves of the clock, and what is expected of each. Every file runs on a fresh stack of its own. docs/scenarios.md has every step and every matcher.',
    verbs: {
      run: {
        summary: 'run scenarios, each on a fresh stack of its own',
        takes: [['[files...]', FILES]],
        options: [
          option('-j, --jobs <n>', 'files at once', { default: 2, parse: wholeNumberOf(1, 16) }),
          option('--bail', 'begin no further file after a failure'),
          option(
            '--keep-on-fail <dir>',
            'keep the stack of each case that fails as a file for `rewards serve --import`, and its requests',
          ),
          option('--filter <text>', 'only files whose path or name has this text'),
          option('--tag <tag>', 'only files with this tag; repeatable', { parse: gather }),
          option('--var <name=value>', 'in place of the value in `vars`; repeatable', { parse: gather }),
          option(
            '--database-url <url>',
            'Postgres server on which each stack gets a database of its own, dropped at its end [default: a file]',
            { env: 'REWARDS_SCENARIO_DATABASE_URL' },
          ),
          option('--skip-unsupported', 'with --target: files that it cannot run are reported as skipped'),
          option('--brand <id>', 'with --target: the brand of the steps that name none', {
            env: 'REWARDS_BRAND_ID',
          }),
          option('--domain <domain>', 'with --target: the domain of that brand'),
          option(
            '--api-key-file <file>',
            'with --target: file with the key of that brand; - reads standard input',
          ),
          option('--report-junit <file>', 'write the report as JUnit XML; - writes it to standard output'),
          option('--report-tap <file>', 'the same as TAP 14'),
          option('--report-json <file>', 'the same as JSON; `scenario schema --of report` describes it'),
          option('--report-html <file>', 'the same as a page'),
        ],
        help: '\nExamples:\n  rewards scenario run scenarios/week.yaml\n  rewards scenario run --tag money --jobs 4 --report-junit junit.xml\n  rewards scenario run staging.yaml --target https://staging.example --brand 0x… --api-key-file key.txt',
        run: run('runScenarioFiles'),
      },
      lint: {
        summary: 'check files without running them',
        takes: [['[files...]', FILES]],
        help: '\nExample:\n  rewards scenario lint scenarios',
        run: lint('lintScenarioFiles'),
      },
      schema: {
        summary: 'print the JSON Schema of the format, for editors',
        options: [
          option('--of <what>', 'of the files, or of the JSON report', {
            default: 'file',
            choices: ['file', 'report'],
          }),
        ],
        help: '\nExample:\n  rewards scenario schema > scenario.schema.json',
        run: lint('printScenarioSchema'),
      },
      record: {
        summary: 'write the requests of a running stack as a scenario, from now until Ctrl-C',
        takes: [['<file>', 'file to write, such as scenarios/bug.yaml']],
        options: [
          option('--since <duration>', 'those of so long before now, and do not wait', { parse: durationMs }),
          option('--all', 'all that the log has, and do not wait').conflicts('since'),
          option('--title <text>', 'name of the scenario'),
          option('--force', 'replace the file when it is there'),
        ],
        help: `
What a scenario sends starts on a fresh stack, so record on one: \`rewards serve --ephemeral\`, or after \`rewards reset\`.

Examples:
  rewards scenario record scenarios/bug.yaml
  rewards scenario record scenarios/bug.yaml --since 10m`,
        run: record('recordScenario'),
      },
      export: {
        summary: 'write a scenario as a test in TypeScript, on standard output',
        takes: [['<file>', 'the scenario; - reads standard input']],
        options: [
          option('--to <form>', 'a test for Vitest, with `rewards/testing`', {
            default: 'vitest',
            choices: ['vitest'],
          }),
          option('--out <path>', 'write it into this file'),
          option('--force', 'replace the file when it is there'),
        ],
        help: `
What the test says in another way than the scenario stands in a comment and on standard error.

Examples:
  rewards scenario export scenarios/bug.yaml > test/bug.test.ts
  rewards scenario export scenarios/bug.yaml --to vitest --out test/bug.test.ts`,
        run: exporting('exportScenario'),
      },
    },
  },
};
