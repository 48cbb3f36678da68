/** Debian's PgBouncer in front of the server of a test, as its users would set it up. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../network/free-port.ts';
import { leaveOut } from '../run/left-out.ts';
import { postgresMissing } from './databases.ts';
import { answers, serverUser } from './postgres-server.ts';

const program = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'].find(existsSync);
const START_CAP_MS = 10_000;

/** Why there is no PgBouncer to test with; undefined when there is one. Throws where one is required. */
export function pgbouncerMissing(): string | undefined {
  return program ? postgresMissing() : leaveOut('PgBouncer', 'install pgbouncer');
}

export interface Pgbouncer {
  /** Of the same database, through the pooler. */
  url: string;
  stop(): Promise<void>;
}

/** `settings`: further lines of its `[pgbouncer]` section; it takes the user of the address, without a password. */
export async function startPgbouncer(
  databaseUrl: string,
  settings: { pool_mode: 'session' | 'transaction' | 'statement' } & Record<string, string | number>,
): Promise<Pgbouncer> {
  const server = new URL(databaseUrl);
  const dir = await mkdtemp(join(tmpdir(), 'rewards-pgbouncer-'));
  const port = await freePort();
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'trust',
    // Who may ask its console whether it is there.
    stats_users: server.username,
    auth_file: join(dir, 'users.txt'),
    max_client_conn: 200,
    default_pool_size: 40,
    query_wait_timeout: 20,
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const where = `host=${server.hostname} port=${server.port || 5432}`;
  await writeFile(join(dir, 'users.txt'), `"${server.username}" "${server.password}"\n`);
  await writeFile(
    join(dir, 'pgbouncer.ini'),
    ['[databases]', `* = ${where}`, '[pgbouncer]', ...lines, ''].join('\n'),
  );
  const as = serverUser();
  if (as)
    for (const path of [dir, join(dir, 'users.txt'), join(dir, 'pgbouncer.ini')])
      await chown(path, as.uid, as.gid);
  // It ends when its shell's input ends, so that it does not outlive killed tests.
  const child = spawn(
    'sh',
    ['-c', '"$0" "$1" </dev/null & cat >/dev/null; kill -KILL $!', program ?? '', join(dir, 'pgbouncer.ini')],
    { ...as, cwd: dir, stdio: ['pipe', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.on('data', (chunk) => {
    said = (said + chunk).slice(-5_000);
  });
  const ended = once(child, 'exit');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  const stop = async () => {
    child.stdin.end();
    await ended;
    await rm(dir, { recursive: true, force: true });
  };
  const giveUpAt = Date.now() + START_CAP_MS;
  // Of its own console, so that no server connection is made for it.
  const itself = new URL(url);
  itself.pathname = '/pgbouncer';
  while (!(await answers(itself.href))) {
    if (child.exitCode !== null || Date.now() > giveUpAt) {
      await stop();
      throw new Error(`PgBouncer did not start: ${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  return { url: url.href, stop };
}
