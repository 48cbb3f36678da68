import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import type { Runtime } from '../../src/cli/machine/context.ts';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { everyCommand } from '../../src/cli/machine/options.ts';
import { pathOf } from '../../src/cli/machine/perform.ts';
import { buildProgram } from '../../src/cli/machine/program.ts';
import { rewards, rewardsJson } from '../kits/service/cli.ts';

const silent = { write: () => {}, isTTY: false, columns: 80 };

const dist = new URL('../../dist/', import.meta.url);

/** Every source that is loaded before any command runs. */
async function eagerSources(chunk = 'main.js', seen = new Set<string>()): Promise<string[]> {
  if (seen.has(chunk)) return [];
  seen.add(chunk);
  const code = await readFile(new URL(chunk, dist), 'utf8');
  const map = JSON.parse(await readFile(new URL(`${chunk}.map`, dist), 'utf8'));
  const imports = [
    ...code.matchAll(/^\s*(?:import|export)\b[^;()]*?from\s*["']([^"']+)["']|^import\s*["']([^"']+)["']/gm),
  ].map((match) => match[1] ?? match[2] ?? '');
  const local = imports.filter((path) => path.startsWith('./'));
  const deeper = await Promise.all(local.map((path) => eagerSources(path.slice(2), seen)));
  return [...map.sources, ...imports.filter((path) => !path.startsWith('./')), ...deeper.flat()];
}

describe('help', () => {
  test('lists the commands, with the variable of each option that has one', async () => {
    const help = await rewards(['help', '--all']);
    expect(help).toMatchObject({ code: exitCodes.done, stderr: '' });
    for (const word of ['send-event', 'clock', 'REWARDS_TARGET', 'REWARDS_OUTPUT'])
      expect(help.stdout).toContain(word);
  });

  test('fits a screen of 24 lines and 80 columns at first, with every command named', async () => {
    const help = await rewards(['--help']);
    expect(help).toMatchObject({ code: exitCodes.done, stderr: '' });
    const lines = help.stdout.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    const { program } = buildProgram(
      { env: {}, stdout: silent, stderr: silent } as unknown as Runtime,
      async () => {},
    );
    for (const command of program.commands)
      expect(help.stdout).toMatch(new RegExp(`\\b${command.name()}\\b`));
    for (const first of ['serve', 'send-event', 'requests explain latest', 'help --all'])
      expect(help.stdout).toContain(first);
  });

  test('of a command can be asked for in front of it, too', async () => {
    const [before, after] = await Promise.all([
      rewards(['help', 'clock', 'advance']),
      rewards(['clock', 'advance', '--help']),
    ]);
    expect(before).toEqual(after);
    expect(await rewards(['help', 'clock', 'advnace'])).toMatchObject({ code: exitCodes.usage, stdout: '' });
  });

  test('is what a bare call prints, too', async () => {
    const [bare, help] = await Promise.all([rewards([]), rewards(['--help'])]);
    expect(bare).toEqual(help);
  });

  test('names the program as it was called, in its examples too', async () => {
    const around = { program: 'npx rewards' };
    const { program } = buildProgram(
      { env: {}, stdout: silent, stderr: silent } as unknown as Runtime,
      async () => {},
    );
    const names = program.commands.map((command) => command.name()).join('|');
    const bare = new RegExp(`(?<!npx )\\brewards (?:${names}|\\[options\\])`);
    for (const command of everyCommand(program)) {
      const path = pathOf(command);
      const help = await rewards([...path.split(' ').filter(Boolean), '--help'], around);
      expect(help.stdout).toContain(`Usage: ${['npx rewards', path].filter(Boolean).join(' ')}`);
      expect(help.stdout.replace(/\s+/g, ' ')).not.toMatch(bare);
      expect(help.stdout.replace(/\s+/g, ' ')).not.toContain('npx npx');
    }
    expect((await rewards(['requests', 'explain', '--help'])).stdout).not.toContain('npx');
  });

  test('loads nothing but the list of commands', async () => {
    const sources = await eagerSources();
    expect(sources.some((source) => source.includes('commander'))).toBe(true);
    const allowed =
      /node_modules\/(commander|picocolors)\/|^node:|\/src\/(cli|lib|compose\/env|client\/client-error|production\/(settings|(outside|listener|chain)-settings|start-setting|start-errors)|rules\/(brands\/spec|webhook-body|engagement\/(board-window|rank-tree))|site\/plugin\/hooks|emulator\/faults\/seams)|package\.json$/;
    const heavy = sources.filter((source) => !allowed.test(source.replace(/^(\.\.\/)+src/, '/src')));
    expect(heavy).toEqual([]);
    expect(sources.filter((source) => source.includes('/cli/commands/'))).toEqual([]);
  });

  test('the version is the package’s', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(await rewards(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` });
    expect(await rewards(['-V'])).toMatchObject({ code: 0, stdout: `${version}\n` });
  });
});

describe('usage errors', () => {
  test.each([
    { args: ['snd-event'], said: "unknown command 'snd-event'", fix: 'Did you mean send-event?' },
    {
      args: ['send-event', '--usr', 'a@b.example'],
      said: "unknown option '--usr'",
      fix: 'Did you mean --user?',
    },
    { args: ['clock', 'advnace', '1s'], said: "unknown command 'advnace'", fix: 'Did you mean advance?' },
    {
      args: ['clock', 'advance'],
      said: "missing required argument 'duration'",
      fix: 'rewards clock advance --help',
    },
    {
      args: ['clock', 'advance', '61 apples'],
      said: 'It must be a duration',
      fix: 'rewards clock advance --help',
    },
    { args: ['clock', 'set', 'tomorrow'], said: 'It must be a time', fix: 'rewards clock set --help' },
    { args: ['clock', 'show', 'now'], said: 'too many arguments', fix: 'rewards clock show --help' },
    {
      args: ['clock', 'show', '-o', 'xml'],
      said: 'Allowed choices are text, json, jsonl, env',
      fix: '--help',
    },
    { args: ['clock', 'show', '--target', 'ftp://x'], said: 'http or https', fix: '--help' },
    { args: ['clock', 'show', '--target', 'http://me:secret@x'], said: 'must not contain', fix: '--help' },
    { args: ['clock', 'show', '--name', '../up'], said: 'letters, digits', fix: '--help' },
    { args: ['send-event', '--origin', 'a\nb'], said: 'plain ASCII', fix: 'rewards send-event --help' },
  ])('$args: exit 2, what is wrong and what to do', async ({ args, said, fix }) => {
    const finished = await rewards(args);
    expect(finished).toMatchObject({ code: exitCodes.usage, stdout: '' });
    expect(finished.stderr).toContain(said);
    expect(finished.stderr).toContain(fix);
    expect(finished.stderr).toContain('E_USAGE');
  });

  test('come as an envelope when json was asked for', async () => {
    const { code, stderr, envelope } = await rewardsJson(['clock', 'advance', 'x']);
    expect({ code, stderr }).toEqual({ code: exitCodes.usage, stderr: '' });
    expect(envelope).toMatchObject({
      ok: false,
      error: { code: 'E_USAGE', retryable: false },
      data: null,
      meta: { command: 'clock advance' },
    });
  });

  test('a group without its verb prints its help on stderr', async () => {
    const finished = await rewards(['clock']);
    expect(finished).toMatchObject({ code: exitCodes.usage, stdout: '' });
    expect(finished.stderr).toContain('advance [options] [duration]');
  });
});

describe('variables', () => {
  test('stand in for options, and give way to them', async () => {
    const env = { REWARDS_OUTPUT: 'json' };
    expect(JSON.parse((await rewards(['clock', 'show'], { env })).stdout)).toMatchObject({ ok: false });
    expect(await rewards(['clock', 'show', '-o', 'text'], { env })).toMatchObject({ stdout: '' });
  });

  test('a wrong one is named', async () => {
    const finished = await rewards(['clock', 'show'], { env: { REWARDS_TIMEOUT: 'soon' } });
    expect(finished.code).toBe(exitCodes.usage);
    expect(finished.stderr).toContain('REWARDS_TIMEOUT=soon');
  });

  test('set to nothing counts as not set; false is false', async () => {
    const finished = await rewards(['clock', 'show'], {
      env: { REWARDS_TIMEOUT: '', REWARDS_QUIET: 'false' },
    });
    expect(finished.code).toBe(exitCodes.unreachable);
  });
});

test('a reader who leaves early does no harm', async () => {
  const { spawnSync } = await import('node:child_process');
  const program = new URL('../../bin/rewards.js', import.meta.url).pathname;
  const piped = spawnSync('sh', ['-c', `"${process.execPath}" "${program}" send-event --help | true`], {
    encoding: 'utf8',
  });
  expect(piped).toMatchObject({ status: 0, stderr: '' });
});
