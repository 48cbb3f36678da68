/** `rewards start --check` with settings at random: it always says what is wrong, and never passes with a lane missing. */
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { namesOf } from '../../src/lib/setting.ts';
import { startRows } from '../../src/production/settings.ts';
import { rewardsJson } from '../kits/service/cli.ts';
import {
  type ProductionKit,
  sqliteLedger,
  startProductionKit,
  wellKnownKey,
} from '../kits/service/production.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

/** Another run: RANDOM_SETTINGS_SEED and RANDOM_SETTINGS_RUNS. */
const seed = Number(process.env.RANDOM_SETTINGS_SEED ?? 20_261_125);
const numRuns = Number(process.env.RANDOM_SETTINGS_RUNS ?? 200);

let kit: ProductionKit;
let ledger: string;
beforeAll(async () => {
  kit = await startProductionKit();
  ledger = await sqliteLedger(kit.folder, 'random');
});
afterAll(() => kit.stop());

/** What people write, for whichever setting: of the right type and of wrong ones, at limits and beyond. */
const anyValue = fc.oneof(
  fc.constantFrom(
    ...['', ' ', '0', '1', '-1', '0.5', '1e9', '999999999999', '9'.repeat(30), 'NaN', 'true', 'false', 'on'],
    ...[
      '0s',
      '1ms',
      '90s',
      '36h',
      '400d',
      '10',
      'api',
      'outbox',
      'api,outbox',
      'outbox,',
      'none',
      'oidc',
      'stripe',
    ],
    ...[
      'emulated',
      'test',
      'live',
      'current',
      'debug',
      'email',
      'required',
      '127.0.0.1',
      '0.0.0.0',
      '::1',
      '::',
      '192.0.2.1',
    ],
    ...[
      'localhost',
      'nginx',
      'a b',
      'rewards.example',
      'https://rewards.example',
      '10.0.0.0/8',
      '0.0.0.0/0',
      '1.2.3.4/99',
    ],
    ...[
      '127.0.0.1, 10.0.0.0/8',
      '/',
      '/x',
      '/x y',
      '/x/',
      '8787',
      '65536',
      'http://127.0.0.1:1',
      'https://[',
      'postgres://',
    ],
    ...[
      'postgres://a b@127.0.0.1:1/x',
      'postgres://u:p@127.0.0.1:99999/x',
      'postgres://u@127.0.0.1:1/x',
      'sqlite:/proc/x/y',
    ],
    ...[
      `0x${'0'.repeat(64)}`,
      `0x${'f'.repeat(64)}`,
      wellKnownKey,
      `0x${'11'.repeat(20)}`,
      'xpub6C'.padEnd(111, 'z'),
    ],
    ...[
      'sk_live_51NobodyHasThisKey',
      'whsec_NobodySignsWithThis01',
      'a,b,,c',
      'ünïcode.example',
      '\u0000',
      '%s',
      '$(id)',
    ],
  ),
  fc.integer({ min: -10, max: 100_000 }).map(String),
  fc.string({ maxLength: 20 }),
);

/** How a setting is given: by its variable, or a secret also by a file, which others may read or which is missing. */
const anyChange = fc.record({
  row: fc.integer({ min: 0, max: startRows.length - 1 }),
  value: anyValue,
  by: fc.constantFrom('variable', 'variable', 'closed file', 'open file', 'missing file', 'both'),
});

type Change = { row: number; value: string; by: string };
let files = 0;

async function environmentWith(changes: readonly Change[]): Promise<Record<string, string>> {
  const env = kit.environment(ledger, { REWARDS_ALLOW_SQLITE: 'true' });
  for (const { row, value, by } of changes) {
    const [, setting] = startRows[row] ?? [];
    if (!setting) continue;
    const { variable, optionVariable } = namesOf(setting);
    if (setting.secret !== 'file' || by === 'variable') {
      // The environment of a process cannot have it.
      env[variable] = value.replaceAll('\u0000', '');
      continue;
    }
    const path = join(kit.folder, `random-${files++}`);
    if (by !== 'missing file') {
      await writeFile(path, value);
      await chmod(path, by === 'open file' ? 0o644 : 0o400);
    }
    if (by !== 'both') delete env[variable];
    env[optionVariable] = path;
  }
  return env;
}

const described = (changes: readonly Change[]) =>
  changes.map(
    ({ row, value, by }) =>
      `${namesOf(startRows[row]?.[1] ?? { flag: '' }).variable}=${JSON.stringify(value)} by ${by}`,
  );

test(`${numRuns} at random: a code, a reason and a fix, or every lane that is needed`, async () => {
  const passed: string[][] = [];
  await fc.assert(
    fc.asyncProperty(fc.array(anyChange, { minLength: 1, maxLength: 3 }), async (changes) => {
      const env = await environmentWith(changes);
      const { code, envelope } = await rewardsJson(['start', '--check'], { env });
      const about = described(changes);
      if (code === 0) {
        passed.push(about);
        // A process that sends has the keys of what it was told to do, each with something in it.
        const isGiven = (name: string) => Boolean((env[name] ?? env[`${name}_FILE`])?.trim());
        if ((env.REWARDS_WORKERS ?? 'outbox').includes('outbox')) {
          expect(isGiven('REWARDS_PAYOUT_KEY'), about.join('\n')).toBe(true);
          if (env.REWARDS_PAYMENTS === 'stripe')
            expect(isGiven('REWARDS_MINT_KEY'), about.join('\n')).toBe(true);
        }
        return;
      }
      const { code: named, message, hint } = envelope.error;
      expect([named, code], `${about.join('\n')}\n${message}`).not.toContain('E_INTERNAL');
      expect([2, 5, 75], `${about.join('\n')}\n${named}: ${message}`).toContain(code);
      expect(message, about.join('\n')).not.toMatch(/\n\s+at /);
      expect(hint.length, about.join('\n')).toBeGreaterThan(5);
    }),
    { seed, numRuns, endOnFailure: true },
  );
  // Settings that are right are among them, or the test would say nothing of those.
  expect(passed.length).toBeGreaterThan(numRuns / 20);
});
