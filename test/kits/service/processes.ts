/** The machine's processes, as its process table has them. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface Row {
  pid: number;
  parent: number;
  /** Of its process group, which signals of a terminal go to. */
  group: number;
  /** Z: it has ended, and its parent has not asked how. */
  state: string;
  command: string;
}

/** Linux tells it in files, which takes a tenth of what a process that reads them would. */
const inFiles = existsSync('/proc/self/stat');

export const processTable = (): Row[] => (inFiles ? fromFiles() : fromPs());

/** Every process that descends from `pid`. */
export function descendants(pid: number, table = processTable()): Row[] {
  const children = table.filter(({ parent }) => parent === pid);
  return [...children, ...children.flatMap((child) => descendants(child.pid, table))];
}

/** Those of `pids` that still run. */
export function aliveOf(pids: readonly number[]): number[] {
  const rows = inFiles ? pids.map(rowOf) : fromPs();
  const running = new Set(rows.map((row) => (row && !row.state.startsWith('Z') ? row.pid : undefined)));
  return pids.filter((pid) => running.has(pid));
}

const fromFiles = (): Row[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => rowOf(Number(name)))
    .filter((row) => row !== undefined);

/** Undefined when there is no such process any more. */
function rowOf(pid: number): Row | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in brackets, may have spaces and brackets of its own.
    const [state = '', parent, group] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
    return { pid, parent: Number(parent), group: Number(group), state, command };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // ESRCH: it ended between opening and reading.
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
}

const fromPs = (): Row[] =>
  execFileSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=,args='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => {
      const [pid, parent, group, state = '', ...command] = line.trim().split(/\s+/);
      return {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        state,
        command: command.join(' '),
      };
    });
