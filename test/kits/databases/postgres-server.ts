/** A private Postgres server for one run of the tests. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../network/free-port.ts';
import { leaveOut } from '../run/left-out.ts';

export interface PostgresServer {
  /** Of its database `postgres`. */
  url: string;
  /** Ends its process and keeps its files; `goOn` starts it on them again. */
  halt(): Promise<void>;
  goOn(): Promise<void>;
  stop(): Promise<void>;
}

/** How long a server may take from its start to its first answer. */
const START_CAP_MS = 30_000;

/** How often a port that was free a moment ago may be taken by somebody else. */
const PORT_TRIES = 5;

export async function startPostgresServer(tries = PORT_TRIES): Promise<PostgresServer> {
  const binaries = binaryFolder();
  if (!binaries) throw new Error('no Postgres binaries');
  const as = serverUser();
  const dir = await mkdtemp(join(tmpdir(), 'rewards-postgres-'));
  if (as) await chown(dir, as.uid, as.gid);
  const data = join(dir, 'data');
  execFileSync(
    join(binaries, 'initdb'),
    ['-D', data, '-U', 'rewards', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { ...as, cwd: dir, stdio: 'pipe' },
  );
  const port = await freePort();
  // The server ends, and its files go, when its shell's input ends: neither outlives the tests, not even killed ones.
  let said = '';
  const launch = () => {
    const server = spawn(
      'sh',
      [
        '-c',
        '"$0" "$@" </dev/null & cat >/dev/null; kill -INT $!; wait $!; cd /; rm -rf "$OLDPWD"',
        join(binaries, 'postgres'),
        ...['-D', data, '-p', String(port), '-k', dir, '-c', 'listen_addresses=127.0.0.1'],
      ],
      { ...as, cwd: dir, stdio: ['pipe', 'ignore', 'pipe'] },
    );
    server.stderr.on('data', (chunk) => {
      said += chunk;
    });
    return { server, ended: once(server, 'exit') };
  };
  const { server, ended } = launch();
  const later: ReturnType<typeof launch>[] = [];
  const stop = async () => {
    for (const one of [...later, { server, ended }]) {
      one.server.stdin.end();
      await one.ended;
    }
    await rm(dir, { recursive: true, force: true });
  };
  const url = `postgres://rewards@127.0.0.1:${port}/postgres`;
  const giveUpAt = Date.now() + START_CAP_MS;
  while (!(await answers(url))) {
    if (server.exitCode !== null || Date.now() > giveUpAt) {
      await stop();
      if (/Address already in use/.test(said) && tries > 1) return startPostgresServer(tries - 1);
      throw new Error(`Postgres did not start: ${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const control = (...args: string[]) =>
    execFileSync(join(binaries, 'pg_ctl'), ['-D', data, '-w', ...args], { ...as, cwd: dir, stdio: 'pipe' });
  return {
    url,
    stop,
    async halt() {
      control('stop', '-m', 'fast');
    },
    async goOn() {
      later.push(launch());
      while (!(await answers(url))) await new Promise((resolve) => setTimeout(resolve, 50));
    },
  };
}

export async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Leaves out what needs a database; the reason to skip it with. */
export const withoutPostgres = () =>
  leaveOut('Postgres', 'install postgresql or set REWARDS_TEST_POSTGRES_URL');

/** Why no server of its own can be started; undefined where one can. Throws where one is required. */
export function serverMissing(): string | undefined {
  if (binaryFolder()) return undefined;
  const isConfigured = process.env.REWARDS_TEST_POSTGRES_URL !== undefined;
  return isConfigured ? leaveOut('Postgres to start and stop', 'install postgresql') : withoutPostgres();
}

/** Where initdb and postgres are: in the PATH, or where Debian puts them; the newest of several. */
export function binaryFolder(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...(process.env.PATH ?? '').split(':'),
    ...versions.map((version) => join(debian, version, 'bin')),
  ];
  return folders.find((folder) => ['initdb', 'postgres'].every((name) => existsSync(join(folder, name))));
}

/** Postgres refuses to run as root: then it runs as the user that its package made, or as nobody. */
export function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }));
      return { uid: id('-u'), gid: id('-g') };
    } catch {}
  }
  throw new Error('there is no user to run Postgres as');
}
