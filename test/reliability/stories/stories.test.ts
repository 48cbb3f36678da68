/** Random stories of callers against a simple model of the rules: the service says and pays what the model says. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import type { ServeConfig } from '../../../src/emulator/serve-config.ts';
import { startTestService, type TestService } from '../../kits/service/service.ts';
import { type Shop, stories } from './commands.ts';
import { ESCROW, emptyModel, type Model, RULES } from './model.ts';

/** TORTURE_STORIES: how many; TORTURE_SEED: of the first. */
const STORIES = Number(process.env.TORTURE_STORIES ?? 20);
const SEED = Number(process.env.TORTURE_SEED ?? 1);
const STEPS = 25;
/** A story that fails is told again, shorter and shorter, each time to a brand that nobody knows yet. */
const SPARE = 60;

let service: TestService | undefined;
let folder: string | undefined;
afterEach(async () => {
  await service?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

const shopAt = (place: number) => ({
  brandId: `0x${(0xb0a0000000 + place).toString(16).padStart(40, '0')}`,
  domain: `shop-${place}.example`,
  apiKey: `rk_test_s${place}_AbCdEfGhJkMnPqRsTuVwXyZ23456789`,
  tag: `s${place}`,
});

/** A service with so many brands, all with the model's rules. */
async function openShops(count: number, change: Partial<ServeConfig> = {}): Promise<() => Shop> {
  folder = await mkdtemp(join(tmpdir(), 'rewards-stories-'));
  const file = join(folder, 'shops.json');
  const list = (limit: number) => (limit < 0 ? 'unlimited' : limit);
  const rules = Object.entries(RULES).map(([name, { reward, maxClaims, maxTotalClaims, cooldownMs }]) => [
    name,
    {
      reward,
      maxClaims: list(maxClaims),
      cooldown: cooldownMs === 0 ? 0 : `${cooldownMs / 1_000}s`,
      ...(maxTotalClaims >= 0 && { maxTotalClaims }),
    },
  ]);
  const brands = Array.from({ length: count }, (_, place) => {
    const { brandId, domain, apiKey } = shopAt(place);
    return {
      name: `Shop ${place}`,
      brandId,
      domains: [domain],
      apiKey,
      escrow: ESCROW,
      events: Object.fromEntries(rules),
    };
  });
  await writeFile(file, JSON.stringify({ brands }));
  const started = await startTestService({ seedFiles: [file], frozen: true, ...change });
  service = started;
  let opened = 0;
  return () => {
    if (opened >= count) throw new Error('every brand was used');
    return { service: started, ...shopAt(opened++), wallets: new Map() };
  };
}

const told = (nextShop: () => Shop) =>
  fc.asyncProperty(stories(STEPS), async (steps) => {
    const model = emptyModel();
    const shop = nextShop();
    await fc.asyncModelRun(() => ({ model, real: shop }), steps);
    await compareMoney(model, shop);
  });

/** The chain has paid what the model granted, to the unit. */
async function compareMoney(model: Model, { service, brandId, wallets }: Shop): Promise<void> {
  for (const [user, amount] of model.granted) {
    const wallet = wallets.get(user);
    expect(wallet, `user ${user} was rewarded and told of no wallet`).toBeDefined();
    expect(await service.balanceOf(String(wallet))).toBe(BigInt(amount));
  }
  expect(await service.escrowOf(brandId)).toBe(BigInt(model.left));
}

test('the service says and pays what the model says', { timeout: 60_000 + STORIES * 10_000 }, async () => {
  const nextShop = await openShops(STORIES + SPARE);
  await fc.assert(told(nextShop), { numRuns: STORIES, seed: SEED, maxSkipsPerRun: 1, endOnFailure: false });
});

test('a service that breaks a rule is noticed', { timeout: 120_000 }, async () => {
  const nextShop = await openShops(40, { duplicateWindowMs: 30_000 });
  const { errorInstance } = await fc.check(told(nextShop), { numRuns: 40, seed: 1, endOnFailure: true });
  expect(String(errorInstance)).toContain("to be 'duplicate'");
});
