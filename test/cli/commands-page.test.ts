/** The page of all commands is what the commands say of themselves. */
import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import type { Runtime } from '../../src/cli/machine/context.ts';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { everyCommand } from '../../src/cli/machine/options.ts';
import { pathOf } from '../../src/cli/machine/perform.ts';
import { buildProgram } from '../../src/cli/machine/program.ts';

const silent = { write: () => {}, isTTY: false, columns: 80 };
const { program } = buildProgram(
  { env: {}, program: 'rewards', stdout: silent, stderr: silent } as unknown as Runtime,
  async () => {},
);
const page = new URL('../../docs/commands.md', import.meta.url);

const OPENING = `# Commands

Every command of \`rewards\`, in the order of \`rewards help --all\`. \`rewards <command> --help\` says the same with its options
and examples. Every command takes \`-o json\`, which prints one envelope: \`ok\`, \`data\`, \`error\`, \`meta\`.

Write \`npx rewards\` in this folder, and wherever the package is not on your shell's path.
`;

const CLOSING = `
## Exit codes

| exit code | means |
|---|---|
| 0 | done |
| 1 | the answer is no |
| 2 | usage, or a file that cannot be understood |
| 3 | unreachable, or timed out |
| 5 | something must be put right first: a port, a folder, a setting |
| 75 | \`start\`: temporary, try again |
| 99 | a threshold of a load test was crossed |
| 130, 143 | interrupted before it was done |
`;

/** What is run: commands without verbs, and the verbs of the others, with a group that does something by itself. */
function runnable(command: Command): Command[] {
  const verbs = command.commands.flatMap(runnable);
  // Commander keeps a handler where there is one, and says so nowhere else.
  const runs = (command as unknown as { _actionHandler: unknown })._actionHandler != null;
  return verbs.length === 0 || runs ? [command, ...verbs] : verbs;
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim();

function rowOf(command: Command): string {
  const usage = command.usage().replace(/^\[options\] ?/, '');
  const line = ['rewards', pathOf(command), usage.replace(/^\[command\]$/, '')].filter(Boolean).join(' ');
  return `| \`${cell(line)}\` | ${cell(command.summary() || command.description())} |`;
}

function pageOf(): string {
  const groups = new Map<string, Command[]>();
  for (const command of program.commands) {
    const heading = command.helpGroup().replace(/:$/, '');
    groups.set(heading, [...(groups.get(heading) ?? []), ...runnable(command)]);
  }
  const tables = [...groups].map(([heading, commands]) =>
    [`\n## ${heading}\n`, '| command | what it does |', '|---|---|', ...commands.map(rowOf), ''].join('\n'),
  );
  return OPENING + tables.join('') + CLOSING;
}

test('docs/commands.md has every command (UPDATE_COMMANDS=1 writes it anew)', async () => {
  if (process.env.UPDATE_COMMANDS) await writeFile(page, pageOf());
  const written = await readFile(page, 'utf8');
  expect(written).toBe(pageOf());
  for (const command of everyCommand(program).filter((one) => one !== program && one.commands.length === 0))
    expect(written).toContain(`\`rewards ${pathOf(command)}`);
  for (const code of Object.values(exitCodes))
    expect(written).toMatch(new RegExp(`^\\| (?:\\d+, )?${code}\\b`, 'm'));
});
