/**
 * Back to a copy that was taken while the service worked: 20 s of work under every account are lost, the recovery is killed again
 * and again, and the service goes on. Nobody is paid twice, nobody loses what they were paid.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { createPublicClient, createWalletClient, encodeFunctionData, type Hex, http, maxUint256 } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { perkNFTAbi, rewardTokenAbi } from '../../../src/chain/contracts/abis.ts';
import { delay } from '../../../src/lib/timers.ts';
import { onServer } from '../../kits/databases/databases.ts';
import { program, rewardsJson } from '../../kits/service/cli.ts';
import { until } from '../../kits/service/clock.ts';
import { type Issuer, startIssuer } from '../../kits/service/foreign-users.ts';
import { ledgerKinds } from '../../kits/service/lost-ledger.ts';
import {
  brandId,
  type ProductionKit,
  productionOf,
  type Started,
  startProductionKit,
} from '../../kits/service/production.ts';

vi.setConfig({ testTimeout: 400_000, hookTimeout: 120_000 });

const LOST_MS = Number(process.env.REWARDS_RECOVER_LOST_MS ?? 20_000);
const FREE = 99n;
const PAUSE_MS = 50;

let kit: ProductionKit;
let issuer: Issuer;
beforeEach(async () => {
  kit = await startProductionKit();
});
afterEach(() => kit.stop());
beforeAll(async () => {
  issuer = await startIssuer();
});
afterAll(() => issuer.stop());
const { start, refused, agrees } = productionOf(() => kit);

const settings = () => ({
  ...issuer.settings,
  REWARDS_GAS_LOW: '0.5',
  REWARDS_GAS_FULL: '2',
  REWARDS_DUPLICATE_WINDOW: '0s',
  REWARDS_ALLOW_SQLITE: 'true',
});
const command = async (url: string, ...args: string[]) => {
  const { code, envelope } = await rewardsJson(args, { env: kit.environment(url, settings()) });
  return { code, data: envelope.data, error: envelope.error ?? null };
};

/** A copy that a backup takes while the service works. */
async function backup(url: string): Promise<string> {
  if (url.startsWith('sqlite:')) {
    const folder = await mkdtemp(join(kit.folder, 'backup-'));
    const file = new Sqlite(url.slice('sqlite:'.length), { readonly: true });
    await file.backup(join(folder, 'ledger.sqlite'));
    file.close();
    return `sqlite:${join(folder, 'ledger.sqlite')}`;
  }
  const copy = new URL(url);
  copy.pathname = `${copy.pathname}_dump`;
  await onServer(url, `create database ${copy.pathname.slice(1)}`);
  const dump = execFileSync('pg_dump', [url], { maxBuffer: 1 << 28 });
  execFileSync('psql', ['-q', '-v', 'ON_ERROR_STOP=1', copy.href], {
    input: dump,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  return copy.href;
}

async function post(service: Started, path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${service.ready.urls.events}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-proto': 'https', ...headers },
    body: JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests look at bodies field by field
  return { status: response.status, body: (await response.json()) as any };
}

async function buy(service: Started) {
  const buyer = privateKeyToAccount(generatePrivateKey()).address;
  const token = await issuer.tokenOf(buyer, { sub: buyer });
  const args = [buyer, FREE, 0n] as const;
  const data = encodeFunctionData({ abi: perkNFTAbi, functionName: 'purchaseFor', args });
  const call = { to: kit.contracts.perks, userAddress: buyer, data };
  return post(service, '/relay', call, { authorization: `Bearer ${token}`, origin: 'https://shop.example' });
}

/** What was answered: who was paid what, less what they spent. */
type Paid = Map<Hex, bigint>;
let people = 0;

/** Work of every kind at once, until the time is over or the service is gone; what is answered is noted. */
async function work(
  service: Started,
  { perkId, paid, forMs }: { perkId: string; paid: Paid; forMs: number },
) {
  const end = performance.now() + forMs;
  const goesOn = () =>
    performance.now() < end && service.child.exitCode === null && service.child.signalCode === null;
  const note = (wallet: Hex, amount: bigint) => paid.set(wallet, (paid.get(wallet) ?? 0n) + amount);
  const loop = async (turn: () => Promise<void>) => {
    while (goesOn()) await turn().catch(() => delay(20));
  };
  await Promise.all([
    ...Array.from({ length: 4 }, () =>
      loop(async () => {
        const userEmail = `person-${people++}@people.example`;
        const { status, body } = await service.event({ brandId, userEmail });
        if (status === 200) note(body.walletAddress, 5n);
        // One address may name only so many new users an hour: they have to last beyond the copy on a fast machine too.
        await delay(PAUSE_MS);
      }),
    ),
    loop(async () => {
      const userEmail = `buyer-${people++}@people.example`;
      const { status, body } = await service.event({ brandId, userEmail });
      if (status !== 200) return;
      note(body.walletAddress, 5n);
      await delay(200);
      const redeemed = await post(service, '/perks/redeem', {
        brandId,
        userIdentifier: userEmail,
        platform: 'web',
        perkId,
      });
      if (redeemed.status === 200) note(body.walletAddress, -1n);
    }),
    loop(async () => {
      await buy(service);
      await delay(100);
    }),
  ]);
}

const held = (of: Hex) =>
  createPublicClient({ transport: http(kit.anvil.url) }).readContract({
    address: kit.contracts.token,
    abi: rewardTokenAbi,
    functionName: 'balanceOf',
    args: [of],
  });

/** `rewards recover --apply`, killed after some time; whether it had come to its end before. */
async function killedRecovery(url: string, afterMs: number): Promise<boolean> {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('REWARDS_'));
  const env = { ...Object.fromEntries(kept), ...kit.environment(url, settings()) };
  const child = spawn(process.execPath, [program, 'recover', '--apply'], { cwd: '/', env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), afterMs);
  const [code] = (await ended) as [number | null];
  clearTimeout(timer);
  return code === 0;
}

describe.each(ledgerKinds)('$kind', ({ kind, open }) => {
  test('20 s of work are lost and come back, whatever kills the recovery', async () => {
    const ledger = await open(kit.folder);
    const admin = createWalletClient({ account: kit.accounts.admin, transport: http(kit.anvil.url) });
    const args = [FREE, 0n, maxUint256, brandId, true] as const;
    const data = encodeFunctionData({ abi: perkNFTAbi, functionName: 'setPerk', args });
    await admin.sendTransaction({ chain: null, to: kit.contracts.perks, data });
    const wish = ['--perk-name', 'Sticker', '--category', 'digital', '--cost', '1', '--stock', 'unlimited'];
    const perk = await command(ledger.url, 'perks', 'add', 'shop.example', ...wish);
    expect(perk.error).toBe(null);
    const perkId: string = perk.data.body.id;
    const paid: Paid = new Map();
    const service = await start(ledger.url, settings());
    await work(service, { perkId, paid, forMs: 3_000 });
    let old = '';
    // The copy is of a moment in the middle of work.
    const working = work(service, { perkId, paid, forMs: LOST_MS });
    await delay(200);
    old = await backup(ledger.url);
    const atCopy = paid.size;
    if (kind === 'Postgres') {
      const to = `0x${'c3'.repeat(20)}`;
      for (let n = 1; n <= 3; n++) {
        expect(
          (await command(ledger.url, 'mint', '--to', to, '--amount', '7', '--reason', `invoice ${n}`)).code,
        ).toBe(0);
        expect(
          (await command(ledger.url, 'perks', 'set', perkId, `name=Sticker ${n}`, `cost=${n % 2 ? 2 : 1}`))
            .code,
        ).toBe(0);
        await delay(1_000);
      }
    }
    await working;
    await service.stop('SIGKILL');
    expect(paid.size).toBeGreaterThan(atCopy);

    expect((await refused(old, settings())).error.code).toBe('E_PROD_LEDGER_BEHIND');
    expect((await command(old, 'recover', '--plan')).data.state).toBe('planned');
    let kills = 0;
    for (let afterMs = 700; kills < 6 && !(await killedRecovery(old, afterMs)); afterMs += 250) kills += 1;
    const { code, error } = await command(old, 'recover', '--apply');
    expect([code, error]).toEqual([0, null]);
    const again = await command(old, 'recover', '--plan');
    expect(again.data.state).toBe('nothing');
    expect(again.data.recoveries).toHaveLength(1);
    await agrees(old, settings());

    const next = await start(old, settings());
    await work(next, { perkId, paid, forMs: 3_000 });
    // Redemptions whose answer the kill took are the only difference, and each costs 2 at most.
    for (const [wallet, amount] of paid) {
      await until('what was answered', async () => (await held(wallet)) >= amount - 2n);
      expect(await held(wallet)).toBeLessThanOrEqual(5n);
    }
    await next.stop();
    await agrees(old, settings());
    if (kind === 'Postgres')
      await onServer(ledger.url, `drop database ${new URL(old).pathname.slice(1)} with (force)`);
    await ledger.stop();
  });
});
