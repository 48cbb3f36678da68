/** Postgres servers that can be killed, started again, copied to a standby and promoted. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, realpathSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { answers, binaryFolder, serverUser } from '../../kits/databases/postgres-server.ts';
import { freePort } from '../../kits/network/free-port.ts';
import { until } from './load.ts';

export interface Server {
  port: number;
  data: string;
  url: string;
  /** Starts it, or starts it again, and waits until it answers. */
  start(): Promise<void>;
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** SIGKILL for the server and all its processes at once, as when the machine goes: none ends its work. */
  killWhole(): Promise<void>;
  query(text: string): Promise<Record<string, unknown>[]>;
  promote(): void;
}
export type Cluster = Awaited<ReturnType<typeof openCluster>>;

export async function openCluster() {
  const named = binaryFolder();
  if (!named) throw new Error('no Postgres binaries');
  // The folder in the PATH may hold links to some of them only.
  const binaries = dirname(realpathSync(join(named, 'postgres')));
  const as = serverUser();
  const dir = await mkdtemp(join(tmpdir(), 'rewards-cluster-'));
  if (as) await chown(dir, as.uid, as.gid);
  const run = (program: string, args: string[]) =>
    execFileSync(join(binaries, program), args, { ...as, cwd: dir, stdio: 'pipe' });
  const servers: Server[] = [];

  const server = async (name: string, settings: string[]): Promise<Server> => {
    const port = await freePort();
    const data = join(dir, name);
    const url = `postgres://rewards@127.0.0.1:${port}/postgres`;
    let kill = async (_: NodeJS.Signals) => {};
    let killWhole = async () => {};
    const one: Server = {
      port,
      data,
      url,
      async start() {
        // It ends when the shell's input ends, so that it never outlives the tests.
        const shell = spawn(
          'sh',
          [
            '-c',
            '"$0" "$@" </dev/null >/dev/null 2>&1 & echo $!; (wait $!; kill -HUP $$) & cat >/dev/null; kill -INT $!',
            join(binaries, 'postgres'),
            ...['-D', data, '-p', String(port), '-k', dir, '-c', 'listen_addresses=127.0.0.1'],
            ...settings.flatMap((setting) => ['-c', setting]),
          ],
          { ...as, cwd: dir, stdio: ['pipe', 'pipe', 'ignore'] },
        );
        const [line] = await once(createInterface({ input: shell.stdout }), 'line');
        const pid = Number(line);
        kill = async (signal) => {
          try {
            process.kill(pid, signal);
          } catch {
            return;
          }
          await until(`${name} ends`, () => !isAlive(pid));
          shell.stdin.end();
        };
        killWhole = async () => {
          const children = childrenOf(pid);
          await kill('SIGKILL');
          for (const child of children) sendKill(child);
          await until(`the processes of ${name} end`, () => !children.some(isAlive));
        };
        await until(`${name} answers`, () => answers(url), 30_000);
      },
      kill: (signal = 'SIGKILL') => kill(signal),
      killWhole: () => killWhole(),
      async query(text) {
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        try {
          return (await client.query(text)).rows;
        } finally {
          await client.end();
        }
      },
      promote: () => void run('pg_ctl', ['promote', '-D', data, '-w']),
    };
    servers.push(one);
    return one;
  };

  return {
    /** A server that has just been made, and runs. */
    async primary(settings: string[] = []) {
      const one = await server('primary', settings);
      run('initdb', [
        '-D',
        one.data,
        '-U',
        'rewards',
        '-A',
        'trust',
        '-E',
        'UTF8',
        '--locale=C',
        '--no-sync',
      ]);
      await one.start();
      return one;
    },
    /** A running copy that follows `of` under the name `standby`. */
    async standbyOf(of: { port: number }) {
      const one = await server('standby', []);
      const from = `host=127.0.0.1 port=${of.port} user=rewards application_name=standby`;
      run('pg_basebackup', ['-D', one.data, '-d', from, '-R', '-c', 'fast', '--no-sync']);
      await one.start();
      return one;
    },
    async close() {
      for (const one of servers) await one.kill('SIGQUIT').catch(() => undefined);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Linux tells them. */
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

function sendKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended with its server.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
