/** What a user is told who asks whether an event would be rewarded now, and when it would be again. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeRule } from '../../src/actions/brands/manage-brands.ts';
import { createEventSubmitter } from '../../src/actions/events/batch-events.ts';
import { checkEligibility } from '../../src/actions/events/check-eligibility.ts';
import { neverCrash } from '../../src/lib/crash-points.ts';
import type { EventSubmission } from '../../src/rules/events/submission.ts';
import { freshKey } from '../kits/databases/databases.ts';
import { openLedger, START_MS, someBrand, type TestLedger } from './ledger.ts';

const HOUR_MS = 3_600_000;
const DUPLICATE_MS = 60_000;

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

/** A brand whose event `visit` earns 10 RWT, once in an hour. */
async function shop(settings: Parameters<typeof someBrand>[1] = {}) {
  const { brandId, domain } = await someBrand(ledger, { deposit: 1_000, ...settings });
  await changeRule(
    ledger,
    { name: brandId, eventType: 'visit' },
    { reward: 10, cooldown: '1h', maxClaims: 5 },
  );
  const deps = {
    ...ledger,
    ownHosts: [],
    ownAddresses: new Set<string>(),
    duplicateWindowMs: DUPLICATE_MS,
    batchMax: 10,
    triesMax: 3,
    crash: neverCrash,
  };
  const visitOf = (userKey: string): EventSubmission => ({
    brandId,
    eventType: 'visit',
    userKey,
    userEmail: userKey,
    userAddress: undefined,
    domain,
    channel: undefined,
    skipCooldown: false,
    metadata: {},
    withBrandKey: false,
  });
  const { submit } = createEventSubmitter(deps);
  return {
    visit: (userKey: string) => submit({ submission: visitOf(userKey), rewardId: ledger.random.uuid() }),
    ask: (userKey: string) => checkEligibility(deps, visitOf(userKey)),
  };
}
const someUser = () => `${freshKey('user')}@people.example`;

test('within the duplicate window and the cooldown the end of the cooldown', async () => {
  const { visit, ask } = await shop();
  const user = someUser();
  expect(await ask(user)).toMatchObject({ refusal: undefined, cooldownEndsAtMs: undefined, claimCount: 0 });
  expect(await visit(user)).toHaveProperty('granted');
  const ends = { cooldownEndsAtMs: START_MS + HOUR_MS, claimCount: 1 };
  expect(await ask(user)).toMatchObject({ refusal: { code: 'duplicate' }, ...ends });
  ledger.clock.advance(DUPLICATE_MS);
  expect(await ask(user)).toMatchObject({ refusal: { code: 'cooldown' }, ...ends });
  ledger.clock.set(START_MS);
});

test("of a spend limit no time, although it passes: the brand's numbers are not the user's cooldown", async () => {
  const { visit, ask } = await shop({ spendPerHour: 15 });
  expect(await visit(someUser())).toHaveProperty('granted');
  expect(await ask(someUser())).toMatchObject({
    refusal: { code: 'spend_limit', passesAtMs: START_MS + HOUR_MS },
    cooldownEndsAtMs: undefined,
    claimCount: 0,
    rewardAmount: 10,
  });
});
