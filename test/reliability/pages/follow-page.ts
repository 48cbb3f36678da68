/** Somebody who follows a page in a shell: one folder, one stack, and a second shell for what goes on by itself. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../kits/network/free-port.ts';
import { program, temporaryDirectory } from '../../kits/service/cli.ts';
import { until } from '../../kits/service/clock.ts';
import { missingFields, missingLines } from './compare-output.ts';
import type { Step } from './read-page.ts';

const root = new URL('../../..', import.meta.url).pathname;

/** Where pages say that the service is. */
const PAGE_PORT = '8787';
/** Commands that go on until they are interrupted; `serve` is the page's stack. */
const GOES_ON = /^rewards (?:requests tail|logs -f|webhooks listen|webhooks inbox --follow|receiver)\b/;
const SERVES = /^(\w+=\S+ )*rewards serve\b/;

/** What went wrong, or nothing. */
type Verdict = string | undefined;

/** Starts in a folder as a new project has it; `stop` ends all that was started. */
export async function followPage() {
  const folder = await temporaryDirectory();
  const port = await freePort();
  const cwd = join(folder.path, 'project');
  await prepare(folder.path, cwd);
  const shell = startShell(folder.path, cwd);
  const here = (text: string) =>
    text
      .replaceAll(`127.0.0.1:${PAGE_PORT}`, `127.0.0.1:${port}`)
      .replace(/^npm ci && /, '')
      .replaceAll(/(^|[\s(])npx rewards /g, '$1rewards ');
  /** What runs: an ephemeral stack ends with its block. */
  let stack: 'none' | 'kept' | 'ephemeral' = 'none';

  async function stopStack(): Promise<void> {
    if (stack !== 'none') await shell.run('rewards stop');
    stack = 'none';
  }

  async function serve(line: string): Promise<Verdict> {
    await stopStack();
    const detached = line.includes('--detach') ? line : `${line} --detach`;
    const answer = await shell.run(`${detached} --port ${port}`);
    if (answer.code === 0) stack = line.includes('--ephemeral') ? 'ephemeral' : 'kept';
    return answer.code === 0 ? undefined : `ended with ${answer.code}: ${answer.output}`;
  }

  return {
    async beginBlock() {
      if (stack === 'ephemeral') await stopStack();
    },
    /** Runs one step of a page; what differs from the page, or undefined. */
    async run(step: Step): Promise<Verdict> {
      const [command = ''] = here(step.command).split(/\s+# /);
      if (SERVES.test(command)) return serve(command);
      if (stack === 'none' && !/^rewards (?:init|exec)\b/.test(command)) await serve('rewards serve');
      if (GOES_ON.test(command)) return shell.runAside(command);
      const { code, output, stdout } = await shell.run(command);
      if (/^rewards stop\b/.test(command)) stack = 'none';
      const wanted = step.isRefused ? 1 : 0;
      if (code !== wanted) return `ended with ${code} in place of ${wanted}:\n${output}`;
      return shownVerdict(step, { stdout, output });
    },
    /** Ends all that was started; what went on by itself and failed, or undefined. */
    async stop(): Promise<Verdict> {
      const verdict = await shell.end(() => stopStack());
      await folder.remove();
      return verdict;
    },
  };
}

function shownVerdict({ shown }: Step, { stdout, output }: { stdout: string; output: string }): Verdict {
  if (!shown) return undefined;
  if (shown.kind === 'text') {
    const missing = missingLines(shown.text, output);
    return missing.length === 0 ? undefined : `does not print\n${missing.join('\n')}\nbut\n${output}`;
  }
  const fields = missingFields(JSON.parse(shown.text), JSON.parse(stdout));
  return fields.length === 0 ? undefined : `answers without ${fields.join(', ')}:\n${stdout}`;
}

/** A folder with what the project's own has for a reader: fixtures, two scenarios, and tests of their own. */
async function prepare(home: string, cwd: string): Promise<void> {
  await mkdir(join(cwd, 'scenarios'), { recursive: true });
  await cp(join(root, 'fixtures'), join(cwd, 'fixtures'), { recursive: true });
  for (const name of ['week.yaml', 'mint-once.yaml'])
    await cp(join(root, 'scenarios', name), join(cwd, 'scenarios', name)).catch(() => {});
  const check = 'node -e "process.exit(process.env.REWARDS_BRAND_ID ? 0 : 1)"';
  await writeFile(join(cwd, 'package.json'), JSON.stringify({ private: true, scripts: { test: check } }));
  const bin = join(home, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'rewards'), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  await chmod(join(bin, 'rewards'), 0o755);
}

/** One bash for the whole page, so that variables and folders stay. */
function startShell(home: string, cwd: string) {
  const env = {
    PATH: `${join(home, 'bin')}:${process.env.PATH}`,
    HOME: home,
    LANG: 'C.UTF-8',
  };
  const bash = spawn('bash', ['--norc', '--noprofile'], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  bash.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  bash.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const aside: { command: string; child: ChildProcess; output: () => string }[] = [];
  let count = 0;
  return {
    async run(command: string) {
      count += 1;
      const mark = `-- done ${count} `;
      stdout = '';
      stderr = '';
      bash.stdin.write(`${command}\nprintf '\\n${mark}%s\\n' "$?"\n`);
      await until(
        command,
        () => new RegExp(`^${mark}\\d+$`, 'm').test(stdout) || bash.exitCode !== null,
        180_000,
      );
      const [printed = '', code] = stdout.split(`\n${mark}`);
      return { code: Number(code), stdout: printed, output: `${printed}${stderr}` };
    },
    /** In a second shell, until the end of the page. */
    async runAside(command: string): Promise<Verdict> {
      const child = spawn('bash', ['-c', `exec ${command}`], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', (chunk) => {
          output += chunk;
        });
      aside.push({ command, child, output: () => output });
      return undefined;
    },
    /** Interrupts what goes on, and names what had ended by itself with an error. */
    async end(stopStack: () => Promise<void>): Promise<Verdict> {
      const failed: string[] = [];
      for (const { command, child, output } of aside) {
        if (child.exitCode === null) {
          const ended = once(child, 'exit');
          child.kill('SIGINT');
          await ended;
        } else if (child.exitCode !== 0) failed.push(`${command} ended with ${child.exitCode}: ${output()}`);
      }
      if (bash.exitCode === null) {
        await stopStack();
        const ended = once(bash, 'exit');
        bash.stdin.end('exit\n');
        await ended;
      }
      return failed.length > 0 ? failed.join('\n') : undefined;
    },
  };
}

export const readPage = (path: string) => readFile(join(root, path), 'utf8');
