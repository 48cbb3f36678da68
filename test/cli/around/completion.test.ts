/** `rewards completion` in the shells themselves: what they offer for a line, with and without a stack. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { programMissing } from '../../kits/run/programs.ts';
import { program, rewards, serveHere, temporaryDirectory } from '../../kits/service/cli.ts';

const run = promisify(execFile);

let project: Awaited<ReturnType<typeof temporaryDirectory>>;
let stack: Awaited<ReturnType<typeof serveHere>>;
beforeAll(async () => {
  project = await temporaryDirectory();
  stack = await serveHere(['--ephemeral', '--port', '0'], { cwd: project.path });
  await mkdir(join(project.path, 'bin'));
  await symlink(program, join(project.path, 'bin', 'rewards'));
  await writeFile(join(project.path, 'my-brand.yaml'), '');
  await mkdir(join(stack.ready.dataDir, 'snapshots'), { recursive: true });
  await writeFile(join(stack.ready.dataDir, 'snapshots', 'before-lunch.rewards'), '');
  await rewards(['checkout', 'create', '--amount', '500', '--user', 'alice@demo.example'], {
    cwd: project.path,
  });
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout } = await rewards(['completion', shell]);
    await writeFile(join(project.path, `completion.${shell}`), stdout);
  }
});
afterAll(async () => {
  await stack.stop();
  await project.remove();
});

/** Runs a script of a shell where `rewards` is on the path. */
async function inShell(shell: string, args: string[], cwd = project.path): Promise<string[]> {
  const env = {
    ...process.env,
    PATH: `${join(project.path, 'bin')}:${process.env.PATH}`,
    HOME: project.path,
  };
  const { stdout, stderr } = await run(shell, args, { cwd, env });
  expect(stderr).toBe('');
  return stdout.split('\n').filter(Boolean);
}

/** As the shell would, for a line whose last word is under the cursor. */
const offers = {
  bash: (line: string, cwd?: string) =>
    inShell(
      'bash',
      [
        ...['--norc', '-c'],
        `compopt() { echo files; }; source "${project.path}/completion.bash"; COMP_WORDS=(${line.replace(/ $/, " ''")}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _rewards; printf '%s\\n' "\${COMPREPLY[@]}"`,
      ],
      cwd,
    ),
  fish: (line: string, cwd?: string) =>
    inShell(
      'fish',
      ['--no-config', '-c', `source "${project.path}/completion.fish"; complete -C "${line}"`],
      cwd,
    ),
  zsh: (line: string, cwd?: string) =>
    inShell(
      'zsh',
      [
        ...['-f', '-c'],
        `compdef() { :; }; _files() { echo files; }; _describe() { print -l -- $described; }; source "${project.path}/completion.zsh"; words=(${line.replace(/ $/, " ''")}); CURRENT=$#words; _rewards`,
      ],
      cwd,
    ).then((found) =>
      found.filter((row) => row.replaceAll('\\', '').startsWith(line.split(' ').at(-1) ?? '')),
    ),
};
const firstWords = (rows: string[]) => rows.map((row) => row.split(/\t|(?<!\\):/)[0]?.replaceAll('\\', ''));

describe.each(['bash', 'zsh', 'fish'] as const)('rewards completion %s', (shell) => {
  const offered = async (line: string, cwd?: string) => firstWords(await offers[shell](line, cwd));

  test.skipIf(programMissing(shell))('commands, their verbs and options', async () => {
    expect(await offered('rewards ')).toEqual(
      expect.arrayContaining(['serve', 'exec', 'clock', 'completion']),
    );
    expect((await offered('rewards cl')).sort()).toEqual(['clock']);
    expect(await offered('rewards clock ')).toEqual(
      expect.arrayContaining(['advance', 'freeze', 'set', 'show']),
    );
    expect(await offered('rewards clock ')).not.toContain('serve');
    expect(await offered('rewards serve --ep')).toEqual(['--ephemeral']);
    expect(await offered('rewards -o json clock advance --u')).toEqual(['--until']);
    expect(await offered('rewards clock show --ti')).toEqual(['--timeout']);
  });

  test.skipIf(programMissing(shell))('values of options: choices, and files', async () => {
    expect((await offered('rewards env --format ')).sort()).toEqual([
      'dotenv',
      'github',
      'json',
      'powershell',
      'shell',
    ]);
    expect(await offered('rewards -o js')).toEqual(expect.arrayContaining(['json', 'jsonl']));
    expect(await offered('rewards open s')).toEqual(['site']);
    const files = await offered('rewards serve --seed ');
    expect(files.some((file) => file === 'files' || file === 'my-brand.yaml')).toBe(true);
  });

  test.skipIf(programMissing(shell))(
    'values of the running stack: events, brands, users, checkouts, snapshots',
    async () => {
      expect(await offered('rewards send-event acc')).toEqual(['account_creation']);
      expect(await offered('rewards send-event purchase --brand demo')).toEqual(['demo.example']);
      expect(await offered('rewards send-event purchase --user al')).toEqual(['alice@demo.example']);
      const sessions = await offered('rewards checkout pay ');
      expect(sessions).toEqual(expect.arrayContaining(['latest', expect.stringMatching(/^cs_test_/)]));
      expect((await rewards(['completion', 'values', 'snapshots'], { cwd: project.path })).stdout).toBe(
        'before-lunch\n',
      );
    },
  );

  test.skipIf(programMissing(shell))(
    'where no stack runs it offers nothing of it, and says nothing',
    async () => {
      expect(await offered('rewards send-event acc', '/')).toEqual([]);
      expect(await offered('rewards cl', '/')).toEqual(['clock']);
    },
  );
});

test('a shell reads each script without a complaint', async () => {
  for (const shell of (['bash', 'zsh', 'fish'] as const).filter((name) => !programMissing(name)))
    await run(shell, ['-n', join(project.path, `completion.${shell}`)]);
});

test('a stack that hangs is asked for a second at most, and is not told of', async () => {
  const hanging = createServer(() => {}).listen(0, '127.0.0.1');
  await once(hanging, 'listening');
  const { port } = hanging.address() as { port: number };
  try {
    for (const kind of ['brands', 'events', 'sessions']) {
      const said = await rewards(['completion', 'values', kind, '--target', `http://127.0.0.1:${port}`]);
      expect(said).toEqual({ code: 0, signal: null, stdout: '', stderr: '' });
    }
  } finally {
    hanging.close();
  }
});
