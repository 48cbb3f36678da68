/** A small share of what `npm run torture -- sim` does, so that every change is tried on some schedules. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mutants } from '../planted-bugs/mutants.ts';
import { createChance } from './chance.ts';
import { consumingCrashPoints, faultNames, redeemingCrashPoints, tellingCrashPoints } from './plan.ts';
import { createSimulator, type Job } from './simulator.ts';

let simulator: ReturnType<typeof createSimulator>;
beforeAll(() => {
  simulator = createSimulator();
});
afterAll(() => simulator.restore());

const job = (what: Partial<Job>): Job => ({
  from: 1,
  seeds: 1,
  mutant: undefined,
  stopAtFirst: true,
  trace: false,
  ...what,
});

test('no seed of the first few breaks an invariant, and all faults struck', {
  timeout: 120_000,
}, async () => {
  const { failed, faults, points } = await simulator.run(job({ seeds: 400 }));
  expect(failed).toEqual([]);
  expect(faults.map(([name]) => name).sort()).toEqual([...faultNames].sort());
  expect(points.map(([name]) => name).sort()).toEqual(
    [...new Set([...redeemingCrashPoints, ...tellingCrashPoints, ...consumingCrashPoints])].sort(),
  );
});

test('a seed runs the same way every time', async () => {
  const runs = [];
  for (let n = 0; n < 2; n += 1) {
    const { failed } = await simulator.run(
      job({ from: 1, seeds: 40, mutant: 'requeue-at-new-nonce', trace: true }),
    );
    runs.push(failed);
  }
  expect(runs[0]).not.toEqual([]);
  expect(runs[1]).toEqual(runs[0]);
});

describe('finds what is planted', () => {
  const quick = [
    'nonce-from-chain',
    'requeue-without-bitmap',
    'send-before-store',
    'answer-before-store',
    'timeout-is-failure',
    'no-fence',
    'bump-other-payload',
    'never-offered-again',
    'keys-by-own-clock',
    'nonce-lost-too-soon',
    'lease-by-own-clock',
    'relay-rebinds-call',
    'relay-permit-apart',
    'relay-shares-not-returned',
    'mint-planned-again',
    'mint-rebound',
    'mint-settled-by-any-block',
    'mint-answers-when-sent',
    'redemption-rebound',
    'redemption-reserves-nothing',
    'redemption-stock-uncounted',
    'redemption-settled-by-any-block',
    'redemption-answers-when-sent',
    'grant-of-any-brand',
    'permit-pays-twice',
    'buyers-code-believed',
    'refused-row-in-the-way',
    'refused-row-keeps-stock',
    'refused-row-waits-for-ever',
    'webhooks-by-own-clock',
    'effect-without-position',
    'position-without-effect',
    'reorganisation-lost',
    'failures-outlive-blocks',
    'patience-by-wall-clock',
    'recovered-sequences-again',
    'recovered-wallets-again',
    'recovered-without-pools',
    'recovered-without-hidden-offers',
    'recovered-payout-queued-again',
    'recovered-mint-made-again',
    'recovered-call-sent-again',
    'recovered-redemption-uncounted',
    'lost-nonce-without-look',
  ];
  test.each(quick)('%s', { timeout: 60_000 }, async (mutant) => {
    expect(mutants.map(({ name }) => name)).toContain(mutant);
    const { failed } = await simulator.run(job({ seeds: 400, mutant }));
    expect(failed).toHaveLength(1);
  });
});

const steered = mutants.filter(({ circumstances }) => circumstances !== undefined);
test.each(steered)(
  'the circumstances of $name break nothing by themselves',
  {
    timeout: 120_000,
  },
  async ({ name }) => {
    const { failed } = await simulator.run(job({ seeds: 200, mutant: name, isControl: true }));
    expect(failed).toEqual([]);
  },
);

test('chance is fair enough, and differs between neighbouring seeds', () => {
  const draws = (seed: number) => {
    const chance = createChance(seed);
    return Array.from({ length: 1_000 }, () => chance.next());
  };
  const mean = draws(1).reduce((sum, one) => sum + one, 0) / 1_000;
  expect(mean).toBeGreaterThan(0.45);
  expect(mean).toBeLessThan(0.55);
  expect(draws(1)).toEqual(draws(1));
  expect(draws(2)).not.toEqual(draws(1));
});
