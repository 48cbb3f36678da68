/** The looks at domains that brands proved: how often, at which, and what is told when DNS gives no answer. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createDomainLooks } from '../../src/actions/brands/look-at-domains.ts';
import { linkProvenDomain } from '../../src/ledger/brands/brand-domains.ts';
import { type LogFields, silentLog } from '../../src/lib/log.ts';
import { signal } from '../kits/databases/databases.ts';
import { openLedger, someBrand, type TestLedger } from './ledger.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const domains = ['one.example', 'three.example', 'two.example'];
let ledger: TestLedger;
let started: ReturnType<typeof createDomainLooks> | undefined;

beforeAll(async () => {
  ledger = await openLedger();
  const { brandId } = await someBrand(ledger);
  for (const domain of domains) await linkProvenDomain(ledger.database.db, { brandId, domain });
});
afterEach(() => started?.stop());
afterAll(() => ledger.close());

/** Looks that have begun; `turns` are the moments at which the clock was read. */
function start({ answer = async (_domain: string): Promise<unknown> => undefined, pollMs = 1 } = {}) {
  const { clock, database } = ledger;
  const world = { looked: [] as string[], warned: [] as string[], turns: 0, answer };
  const warn = (fields: LogFields, message: string) =>
    void world.warned.push(`${JSON.stringify(fields)} ${message}`);
  const looks = createDomainLooks(
    {
      database,
      clock: {
        now() {
          world.turns += 1;
          return clock.now();
        },
      },
      log: { ...silentLog, warn } as typeof silentLog,
      verifyDns(domain) {
        world.looked.push(domain);
        return world.answer(domain);
      },
    },
    { lookEveryMs: HOUR_MS, retryMs: MINUTE_MS, pollMs },
  );
  started = looks;
  looks.start();
  /** The turn that sees what happened until now is over. */
  const turned = async () => {
    const before = world.turns;
    await expect.poll(() => world.turns).toBeGreaterThan(before + 1);
  };
  return { world, looks, turned };
}

test('looks at each domain at once, then every hour, to the millisecond', async () => {
  const { world, turned } = start();
  await turned();
  expect(world.looked).toEqual(domains);
  ledger.clock.advance(HOUR_MS - 1);
  await turned();
  expect(world.looked).toHaveLength(3);
  ledger.clock.advance(1);
  await turned();
  expect(world.looked).toEqual([...domains, ...domains]);
  expect(world.warned).toEqual([]);
});

test('looks again after a minute when DNS gave no answer for some, and says for how many', async () => {
  const { world, turned } = start({
    answer: (domain) => (domain === 'two.example' ? Promise.resolve() : Promise.reject(new Error('silent'))),
  });
  await turned();
  expect(world.looked).toEqual(domains);
  expect(world.warned).toEqual(['{"domains":3,"unanswered":2} DNS gave no answer for domains of brands']);
  ledger.clock.advance(MINUTE_MS - 1);
  await turned();
  expect(world.looked).toHaveLength(3);
  world.answer = async () => undefined;
  ledger.clock.advance(1);
  await turned();
  expect(world.looked).toHaveLength(6);
  ledger.clock.advance(MINUTE_MS);
  await turned();
  expect(world.looked).toHaveLength(6);
  expect(world.warned).toHaveLength(1);
});

test('an end comes between two domains, and no look is begun after it', async () => {
  const asked = signal();
  const answered = signal();
  const { world, looks } = start({
    async answer() {
      asked.give();
      await answered.given;
    },
  });
  await asked.given;
  const stopped = looks.stop();
  answered.give();
  await stopped;
  expect(world.looked).toEqual(['one.example']);
});

test('waits between two looks at the clock', async () => {
  const { world, looks } = start({ pollMs: HOUR_MS });
  await expect.poll(() => world.looked).toHaveLength(3);
  expect(world.turns).toBe(1);
  looks.nudge();
  await expect.poll(() => world.turns).toBe(2);
});
