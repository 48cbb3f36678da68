/** docs/operations.md, First start: its own lines, from an empty Postgres and a bare node to a confirmed reward. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEther, toHex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { expect, test, vi } from 'vitest';
import { rpcTo, startAnvil } from '../kits/chain/chain.ts';
import { serverMissing, startPostgresServer } from '../kits/databases/postgres-server.ts';
import { freePort } from '../kits/network/free-port.ts';
import { programMissing } from '../kits/run/programs.ts';
import { program, temporaryDirectory } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

const page = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');
const section = page.split(/^## /m).find((text) => text.startsWith('First start\n')) ?? '';
const blocks = [...section.matchAll(/^```sh(?: norun: [^\n]*)?\n(.*?)^```$/gms)].map(
  ([, lines = '']) => lines,
);

/** What differs where the page is tried out: the addresses around the service, its port, and a chain with more blocks. */
function here(lines: string, instead: Record<string, string>): string {
  return Object.entries(instead).reduce((text, [from, to]) => text.replaceAll(from, to), lines);
}

/** Runs lines in the shell of a person who follows the page; `before` are the exports so far. */
async function shell(lines: string, { cwd, env }: { cwd: string; env: Record<string, string> }) {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', lines], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${lines}\nended with ${code}:\n${output}`);
  return output;
}

test.skipIf(serverMissing() ?? programMissing('bash') ?? programMissing('curl'))(
  'the lines of the page end with a confirmed reward; a database that stops and starts is two lines of the log',
  async () => {
    const [anvil, postgres, project, port, adminPort] = await Promise.all([
      startAnvil(['--chain-id', '8454', '--block-time', '0.5']),
      startPostgresServer(),
      temporaryDirectory(),
      freePort(),
      freePort(),
    ]);
    const rpc = rpcTo(anvil.url);
    const cwd = project.path;
    await writeFile(join(cwd, 'rewards'), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
    await chmod(join(cwd, 'rewards'), 0o755);
    const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('REWARDS_'));
    const env: Record<string, string> = {
      ...(Object.fromEntries(kept) as Record<string, string>),
      PATH: `${cwd}:${process.env.PATH}`,
      REWARDS_PORT: String(port),
      REWARDS_ADMIN_PORT: String(adminPort),
      REWARDS_BLOCK_POLL: '250ms',
    };
    const instead = {
      'postgres://rewards:PASSWORD@db.internal/rewards?sslmode=verify-full': postgres.url,
      'https://node-1.example,https://node-2.example': `${anvil.url},${anvil.url}/?2`,
      'REWARDS_CHAIN_ID=8453': 'REWARDS_CHAIN_ID=8454',
      '127.0.0.1:8787': `127.0.0.1:${port}`,
    };
    for (const from of Object.keys(instead)) expect(section).toContain(from);
    const [keys = '', settings = '', contracts = '', start = '', brand = '', reward = '', ...more] =
      blocks.map((lines) => here(lines, instead));
    expect(more).toEqual([]);
    let service: ReturnType<typeof spawn> | undefined;
    try {
      expect(await shell(keys, { cwd, env })).toMatch(/(?:[a-z]+ ){23}[a-z]+/);
      const deployer = (await readFile(join(cwd, 'secrets/deployer-key'), 'utf8')).trim() as `0x${string}`;
      await rpc('anvil_setBalance', [privateKeyToAddress(deployer), toHex(parseEther('5'))]);
      await shell(`${settings}\n${contracts}`, { cwd, env });

      // The last line runs as long as the service does.
      expect(start.trimEnd().endsWith('\nrewards start')).toBe(true);
      await shell(`${settings}\n${start.replace(/rewards start\n$/, '')}`, { cwd, env });
      service = spawn('bash', ['-c', `${settings}\nexec rewards start`], {
        cwd,
        env,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let log = '';
      service.stderr?.on('data', (chunk) => {
        log += chunk;
      });
      await shell(`${settings}\n${brand}\n${reward}`, { cwd, env });
      const { transactionHash, rewardAmount } = JSON.parse(await readFile(join(cwd, 'reward.json'), 'utf8'));
      expect(rewardAmount).toBe(100);
      await until("the payment's receipt", async () => {
        const receipt = await rpc('eth_getTransactionReceipt', [transactionHash]);
        return (receipt as { status: string } | null)?.status === '0x1';
      });

      const about = () =>
        log
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line))
          .filter(({ level, message }) => level === 'error' || / is back after /.test(message));
      expect(about()).toEqual([]);
      const readyz = async () => (await fetch(`http://127.0.0.1:${adminPort}/readyz`)).status;
      await postgres.halt();
      await until('its loss to be said', () => about().length === 1);
      await postgres.goOn();
      await until('its return to be said', () => about().length === 2);
      await until('the service to be ready again', async () => (await readyz()) === 200);
      expect(about()).toMatchObject([
        { message: expect.stringMatching(/^the database is away: (?:ECONN|57P0\d: |Connection terminated)/) },
        { message: expect.stringMatching(/^the database is back after \d/), awayMs: expect.any(Number) },
      ]);
    } finally {
      service?.kill('SIGKILL');
      await Promise.all([anvil.stop(), postgres.stop()]);
      await project.remove();
    }
  },
);
