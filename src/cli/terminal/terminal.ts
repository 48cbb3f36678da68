/** The terminal of a person, for what draws on it: its streams, its size, its signals, and who is in front. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

type StreamName = 'stdout' | 'stderr';

export interface Terminal {
  /** What is written here reaches the terminal while all else is diverted. */
  streams: { stdin: NodeJS.ReadStream; stdout: NodeJS.WriteStream; stderr: NodeJS.WriteStream };
  size(): { columns: number; rows: number };
  /** Passes what anybody writes on stdout or stderr, and the warnings of Node, to `to` until the returned function is called. */
  divert(to: (stream: StreamName, text: string) => void): () => void;
  /** Whether keys are ours: a job in the background that asks for them is stopped. */
  isInFront(): boolean;
  /** What the terminal sends for a key, to all that run in front: Ctrl-C, Ctrl-\, Ctrl-Z. */
  sendToAll(signal: 'SIGINT' | 'SIGQUIT' | 'SIGTSTP'): void;
  /** A stop signal to this process alone. */
  stopSelf(): void;
  /** Calls `listener` until the returned function is called. `pause`: instead of being stopped by Ctrl-Z or `kill`. */
  on(event: 'resize' | 'continue' | 'pause' | 'exit', listener: () => void): () => void;
}

/** Where a terminal does not tell its size. */
const USUAL = { columns: 80, rows: 24 };

/** Undefined where one of the three streams is not a terminal. */
export function terminalOf(process: NodeJS.Process): Terminal | undefined {
  const { stdin, stdout, stderr, platform } = process;
  if (!stdin.isTTY || !stdout.isTTY || !stderr.isTTY) return undefined;
  return {
    streams: { stdin, stdout: undiverted(stdout), stderr: undiverted(stderr) },
    size: () => ({ columns: stdout.columns || USUAL.columns, rows: stdout.rows || USUAL.rows }),
    divert(to) {
      const restore = [
        divertStream(stdout, (text) => to('stdout', text)),
        divertStream(stderr, (text) => to('stderr', text)),
        divertWarnings(process, (text) => to('stderr', text)),
      ];
      return () => {
        for (const one of restore) one();
      };
    },
    isInFront: () => isInFront(process),
    // Windows has no signals that a program could be sent and hear.
    sendToAll: (signal) => (platform === 'win32' ? void process.emit(signal) : process.kill(0, signal)),
    stopSelf: () =>
      platform === 'win32' ? void process.emit('SIGTERM') : process.kill(process.pid, 'SIGTERM'),
    on(event, listener) {
      if (event === 'resize') {
        stdout.on('resize', listener);
        return () => stdout.off('resize', listener);
      }
      if (event === 'exit') {
        process.on('exit', listener);
        return () => process.off('exit', listener);
      }
      if (platform === 'win32') return () => {};
      const signal = event === 'continue' ? 'SIGCONT' : 'SIGTSTP';
      process.on(signal, listener);
      return () => process.off(signal, listener);
    },
  };
}

/**
 * The same stream, whose `write` is its own also while that of the other is replaced. It tells no rows: Ink clears all that
 * the terminal keeps when what it has drawn is as high as a screen that has become smaller.
 */
function undiverted(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  const write = stream.write.bind(stream);
  const own = new Map<PropertyKey, unknown>([
    ['write', write],
    ['rows', Number.POSITIVE_INFINITY],
  ]);
  return new Proxy(stream, {
    get: (target, key) => (own.has(key) ? own.get(key) : Reflect.get(target, key, target)),
  });
}

function divertStream(stream: NodeJS.WriteStream, to: (text: string) => void): () => void {
  const own = Object.getOwnPropertyDescriptor(stream, 'write');
  const write = (chunk: string | Uint8Array, encoding?: unknown, written?: unknown): boolean => {
    to(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8'));
    const tell = typeof encoding === 'function' ? encoding : written;
    if (typeof tell === 'function') queueMicrotask(() => tell());
    return true;
  };
  Object.defineProperty(stream, 'write', { value: write, configurable: true, writable: true });
  return () => {
    if (own) Object.defineProperty(stream, 'write', own);
    else Reflect.deleteProperty(stream, 'write');
  };
}

/** Node prints them past the streams. */
function divertWarnings(process: NodeJS.Process, to: (text: string) => void): () => void {
  const usual = process.listeners('warning');
  if (usual.length === 0) return () => {};
  const tell = ({ name, message }: Error) => to(`${name}: ${message}\n`);
  process.removeAllListeners('warning');
  process.on('warning', tell);
  return () => {
    process.off('warning', tell);
    for (const one of usual) process.on('warning', one);
  };
}

/** The group of processes that the terminal listens to, beside our own; where nobody controls jobs, we are in front. */
function isInFront({ platform, pid }: NodeJS.Process): boolean {
  if (platform === 'win32') return true;
  if (platform === 'linux') {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The name of the program may have blanks and brackets in it.
    const [, , group, , , front] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return front === '-1' || group === front;
  }
  const { stdout, status } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return status !== 0 || stdout.includes('+');
}
