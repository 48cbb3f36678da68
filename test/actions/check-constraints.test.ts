/** Constraints without an answer: the buyer is told so, and does not get the perk. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCheckConstraints } from '../../src/actions/constraints/check-constraints.ts';
import type { Constraint } from '../../src/rules/constraint.ts';
import { freshAddress } from '../kits/databases/databases.ts';
import { openLedger, someBrand, type TestLedger } from './ledger.ts';

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

const perkId = randomUUID();
test.each<[string, Constraint, string, string]>([
  [
    'a perk that the brand does not have',
    { type: 'has_perk', perkId },
    'perk_unknown',
    `This perk needs the perk ${perkId}, which the brand does not have`,
  ],
  [
    'a chat where the service knows none',
    { type: 'chat_role', platform: 'discord', role: 'moderator' },
    'chat_unavailable',
    'It cannot be told at the moment how you stand on discord: try again later',
  ],
  [
    'a server that gives no answer',
    { type: 'external_api', url: 'https://brand.example/eligible', ttlSeconds: 60 },
    'external_api_unavailable',
    "The brand's server could not be asked whether you may have this perk: try again in a moment",
  ],
])('%s', async (_, constraint, reason, message) => {
  const { brandId } = await someBrand(ledger);
  const check = createCheckConstraints({
    database: ledger.database,
    log: { warn() {} } as never,
    externalApi: async () => undefined,
    holdsPerk: async () => true,
  });
  const buyer = { address: freshAddress() };
  expect(await check({ brandId, tokenId: 1, constraints: [constraint], buyer })).toEqual([
    { type: constraint.type, reason, message },
  ]);
});
