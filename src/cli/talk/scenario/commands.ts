/** `rewards scenario`: names, arguments and options. */

import { durationMs, gather, option, wholeNumberOf } from '../../machine/options.ts';
import type { Catalog } from '../../machine/verb.ts';

const FILES = 'files, or folders that are searched for *.yaml; default: scenarios';

export function declareScenario({ parent, lazily }: Catalog): void {
  const scenario = parent
    .command('scenario')
    .summary('run scenarios: files of steps and what must come of them')
    .description(
      'A scenario is a YAML file: events, purchases, relayed calls, moves of the clock, and what is expected of each. Every file runs on a fresh stack of its own. docs/scenarios.md has every step and every matcher.',
    );
  scenario
    .command('run')
    .summary('run scenarios, each on a fresh stack of its own')
    .argument('[files...]', FILES)
    .addOption(option('-j, --jobs <n>', 'files at once', { default: 2, parse: wholeNumberOf(1, 16) }))
    .addOption(option('--bail', 'begin no further file after a failure'))
    .addOption(
      option(
        '--keep-on-fail <dir>',
        'keep the stack of each case that fails as a file for `rewards serve --import`, and its requests',
      ),
    )
    .addOption(option('--filter <text>', 'only files whose path or name has this text'))
    .addOption(option('--tag <tag>', 'only files with this tag; repeatable', { parse: gather }))
    .addOption(option('--var <name=value>', 'in place of the value in `vars`; repeatable', { parse: gather }))
    .addOption(
      option(
        '--database-url <url>',
        'Postgres server on which each stack gets a database of its own, dropped at its end [default: a file]',
        { env: 'REWARDS_SCENARIO_DATABASE_URL' },
      ),
    )
    .addOption(
      option('--skip-unsupported', 'with --target: files that it cannot run are reported as skipped'),
    )
    .addOption(
      option('--brand <id>', 'with --target: the brand of the steps that name none', {
        env: 'REWARDS_BRAND_ID',
      }),
    )
    .addOption(option('--domain <domain>', 'with --target: the domain of that brand'))
    .addOption(
      option(
        '--api-key-file <file>',
        'with --target: file with the key of that brand; - reads standard input',
      ),
    )
    .addOption(
      option('--report-junit <file>', 'write the report as JUnit XML; - writes it to standard output'),
    )
    .addOption(option('--report-tap <file>', 'the same as TAP 14'))
    .addOption(option('--report-json <file>', 'the same as JSON; `scenario schema --of report` describes it'))
    .addOption(option('--report-html <file>', 'the same as a page'))
    .addHelpText(
      'after',
      '\nExamples:\n  rewards scenario run scenarios/week.yaml\n  rewards scenario run --tag money --jobs 4 --report-junit junit.xml\n  rewards scenario run staging.yaml --target https://staging.example --brand 0x… --api-key-file key.txt',
    )
    .action(lazily(async () => (await import('./run.ts')).runScenarioFiles));
  scenario
    .command('lint')
    .summary('check files without running them')
    .argument('[files...]', FILES)
    .addHelpText('after', '\nExample:\n  rewards scenario lint scenarios')
    .action(lazily(async () => (await import('./lint.ts')).lintScenarioFiles));
  scenario
    .command('schema')
    .summary('print the JSON Schema of the format, for editors')
    .addOption(
      option('--of <what>', 'of the files, or of the JSON report', {
        default: 'file',
        choices: ['file', 'report'],
      }),
    )
    .addHelpText('after', '\nExample:\n  rewards scenario schema > scenario.schema.json')
    .action(lazily(async () => (await import('./lint.ts')).printScenarioSchema));
  declareRecord({ parent: scenario, lazily });
  declareExport({ parent: scenario, lazily });
}

function declareExport({ parent, lazily }: Catalog): void {
  parent
    .command('export')
    .summary('write a scenario as a test in TypeScript, on standard output')
    .argument('<file>', 'the scenario; - reads standard input')
    .addOption(
      option('--to <form>', 'a test for Vitest, with `rewards/testing`', {
        default: 'vitest',
        choices: ['vitest'],
      }),
    )
    .addOption(option('--out <path>', 'write it into this file'))
    .addOption(option('--force', 'replace the file when it is there'))
    .addHelpText(
      'after',
      `
What the test says in another way than the scenario stands in a comment and on standard error.

Examples:
  rewards scenario export scenarios/bug.yaml > test/bug.test.ts
  rewards scenario export scenarios/bug.yaml --to vitest --out test/bug.test.ts`,
    )
    .action(lazily(async () => (await import('./export.ts')).exportScenario));
}

function declareRecord({ parent, lazily }: Catalog): void {
  parent
    .command('record')
    .summary('write the requests of a running stack as a scenario, from now until Ctrl-C')
    .argument('<file>', 'file to write, such as scenarios/bug.yaml')
    .addOption(
      option('--since <duration>', 'those of so long before now, and do not wait', { parse: durationMs }),
    )
    .addOption(option('--all', 'all that the log has, and do not wait').conflicts('since'))
    .addOption(option('--title <text>', 'name of the scenario'))
    .addOption(option('--force', 'replace the file when it is there'))
    .addHelpText(
      'after',
      `
What a scenario sends starts on a fresh stack, so record on one: \`rewards serve --ephemeral\`, or after \`rewards reset\`.

Examples:
  rewards scenario record scenarios/bug.yaml
  rewards scenario record scenarios/bug.yaml --since 10m`,
    )
    .action(lazily(async () => (await import('./record.ts')).recordScenario));
}
