/** Planted bugs: each breaks production code from outside, at one of its ports, and has to be found. */
import { clockBugs } from './clock-bugs.ts';
import { consentBugs } from './consent-bugs.ts';
import { consumerBugs } from './consumer-bugs.ts';
import { mintBugs } from './mint-bugs.ts';
import type { Mutant } from './parts.ts';
import { payoutBugs } from './payout-bugs.ts';
import { recoveryBugs } from './recovery-bugs.ts';
import { redemptionBugs } from './redemption-bugs.ts';
import { refusalBugs } from './refusal-bugs.ts';
import { relayBugs } from './relay-bugs.ts';
import { webhookBugs } from './webhook-bugs.ts';

export const noMutant: Mutant = { name: 'none' };

export const mutants: Mutant[] = [
  ...payoutBugs,
  ...clockBugs,
  ...relayBugs,
  ...mintBugs,
  ...redemptionBugs,
  ...consentBugs,
  ...refusalBugs,
  ...webhookBugs,
  ...recoveryBugs,
  ...consumerBugs,
];
