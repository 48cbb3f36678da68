/** `.rewards/run.json`: with it, the other commands find the stack that runs in their project. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { delay, stopwatch } from '../lib/timers.ts';
import type { Ready } from './ready.ts';

/** The file's contents. They include secrets, so only its owner may read it. */
export interface RunInfo
  extends Pick<
    Ready,
    'pid' | 'urls' | 'controlToken' | 'chain' | 'contracts' | 'brands' | 'processor' | 'dataDir'
  > {
  /** Version of the file's format. */
  version: 1;
  program: string;
  name?: string | undefined;
  /** When the process started, in the machine's own units: tells it from a later process with the same pid. */
  startTime: string;
  users: Pick<Ready['users'][number], 'email' | 'address'>[];
}

interface FoundRun {
  /** The live stack nearest to the directory, if any. */
  run?: RunInfo & { path: string };
  /** Notes for people about files that were ignored. */
  notes: string[];
}

const FOLDER = '.rewards';
const GONE = 'gone';
const fileName = (name?: string) => (name ? `run-${name}.json` : 'run.json');

/** Creates the project's folder, closed to others and ignored by git; its path. */
async function ensureProjectFolder(projectDir: string): Promise<string> {
  const folder = join(projectDir, FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  await writeFile(join(folder, '.gitignore'), '*\n', { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return folder;
}

/** Writes the file for the calling process atomically; returns its path. */
export async function writeRunFile(
  projectDir: string,
  info: Omit<RunInfo, 'version' | 'startTime'>,
): Promise<string> {
  const path = join(await ensureProjectFolder(projectDir), fileName(info.name));
  const run: RunInfo = { ...info, version: 1, startTime: (await processStartTime(info.pid)) ?? '' };
  // The pid in the name keeps drafts of several processes apart.
  const draft = `${path}.${info.pid}.draft`;
  await writeFile(draft, `${JSON.stringify(run, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, path);
  return path;
}

/** Removes the file at `path` if it still belongs to the process `pid`. */
export async function removeRunFile(path: string, pid: number): Promise<void> {
  const run = await readRunFile(path).catch(() => undefined);
  if (run?.pid === pid && (await isAlive(run))) await rm(path, { force: true });
}

/** Looks in `startDir`, then in each of its parents, for the file of a stack that is still running. */
export async function findRunFile(startDir: string, name?: string): Promise<FoundRun> {
  const notes: string[] = [];
  for (let dir = resolve(startDir); ; dir = dirname(dir)) {
    const path = join(dir, FOLDER, fileName(name));
    const run = await readRunFile(path).catch((error: Error) => {
      notes.push(`${error.message}; ignored`);
      return undefined;
    });
    if (run && (await isAlive(run))) return { run: { ...run, path }, notes };
    if (run) notes.push(`${path} is left over from process ${run.pid}, which is gone; ignored`);
    if (dirname(dir) === dir) return { notes };
  }
}

/** The names of the stacks that run in `startDir` or above it under a name of their own. */
export async function namedRuns(startDir: string): Promise<string[]> {
  const names = new Set<string>();
  for (let dir = resolve(startDir); ; dir = dirname(dir)) {
    for (const file of await readdir(join(dir, FOLDER)).catch(() => [])) {
      const name = /^run-(.+)\.json$/.exec(file)?.[1];
      if (name && (await findRunFile(dir, name)).run) names.add(name);
    }
    if (dirname(dir) === dir) return [...names];
  }
}

/** Undefined when the file does not exist; throws when it has another format or owner. */
async function readRunFile(path: string): Promise<RunInfo | undefined> {
  const owner = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  if (owner === undefined) return undefined;
  // In a shared directory such as /tmp, any user could leave a file that sends our calls and keys to them.
  if (process.getuid && owner.uid !== process.getuid()) throw new Error(`${path} belongs to another user`);
  const text = await readFile(path, 'utf8');
  const run = parsedObject(text);
  const fits = run.version === 1 && Number.isSafeInteger(run.pid) && typeof run.urls?.events === 'string';
  if (!fits) throw new Error(`${path} is not a run file of this version`);
  return run as RunInfo;
}

function parsedObject(text: string): Partial<RunInfo> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Whether the very process of a run file still runs; a later process with its pid does not count. */
export async function isAlive(run: Pick<RunInfo, 'pid' | 'startTime'>): Promise<boolean> {
  try {
    process.kill(run.pid, 0);
  } catch (error) {
    // A process of another user exists all the same.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const startTime = await processStartTime(run.pid);
  if (startTime === GONE) return false;
  return startTime === undefined || run.startTime === '' || startTime === run.startTime;
}

/** When a process started; GONE when it has ended; undefined where the machine does not tell. */
async function processStartTime(pid: number): Promise<string | undefined> {
  try {
    const [boot, stat] = await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
    ]);
    // The program's name comes second, in brackets, and may hold blanks; the start is the 20th field after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie still has a pid but will never answer.
    if (fields[0] === 'Z' || fields[0] === 'X') return GONE;
    return `${boot.trim()}:${fields[19]}`;
  } catch {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)]).catch(() => ({
      stdout: '',
    }));
    return stdout.trim() || undefined;
  }
}

/** A stack stops within five seconds; somebody who waits for it looks this often. */
const LOOK_EVERY_MS = 50;

/** Every stack that runs in `startDir` or above it: the one without a name first. */
export async function runsHere(startDir: string): Promise<RunInfo[]> {
  const names = [undefined, ...(await namedRuns(startDir))];
  const found = await Promise.all(names.map((name) => findRunFile(startDir, name)));
  return found.flatMap(({ run }) => run ?? []);
}

/**
 * Asks the process of a run file to stop; false when it is still there after `timeoutMs`. A process that has only got its
 * pid since is left alone.
 */
export async function endRun(run: Pick<RunInfo, 'pid' | 'startTime'>, timeoutMs: number): Promise<boolean> {
  const elapsedMs = stopwatch();
  if (!(await isAlive(run))) return true;
  try {
    process.kill(run.pid, 'SIGTERM');
  } catch (error) {
    // It has ended by itself in between.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
  while (await isAlive(run)) {
    if (elapsedMs() >= timeoutMs) return false;
    await delay(LOOK_EVERY_MS);
  }
  return true;
}
