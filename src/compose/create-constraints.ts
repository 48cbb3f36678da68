/** Binds the checks of purchase constraints to their ports: one for redemptions and relayed purchases alike. */
import { createExternalApi } from '../actions/constraints/ask-external-api.ts';
import {
  createCheckConstraints,
  membershipText,
  readMemberships,
} from '../actions/constraints/check-constraints.ts';
import { createResultLooks } from '../actions/constraints/constraint-results.ts';
import { perksHeld } from '../chain/contracts/calls/perk-calls.ts';
import type { Rpc } from '../chain/rpc/rpc.ts';
import { boundedChat, type ChatProvider } from '../constraints/chat-provider.ts';
import { askEligibility } from '../constraints/external-api.ts';
import { createTurns } from '../constraints/take-turns.ts';
import type { BusinessTime, Database } from '../ledger/database/database.ts';
import type { Facts } from '../ledger/facts.ts';
import { type Clock, steadyClock } from '../lib/clock.ts';
import type { Random } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { AskDeps } from '../outgoing/ask.ts';
import type { CheckConstraints } from '../rules/constraint.ts';
import { settings } from './config.ts';

interface ConstraintsDeps {
  database: Database;
  businessTime: BusinessTime;
  clock: Clock;
  random: Random;
  log: Log;
  rpc: Rpc;
  facts: Facts['chain'];
  /** Where brands' servers may be. */
  outgoing: AskDeps;
  /** Absent where the service knows no chat. */
  chat?: ChatProvider | undefined;
}

/** `looks` begin when they are started. */
export function createConstraints(deps: ConstraintsDeps): {
  check: CheckConstraints;
  looks: ReturnType<typeof createResultLooks>;
} {
  const { database, businessTime, random, log, rpc, outgoing } = deps;
  const { chatAnswerMs: answerMs } = settings.constraints.looks;
  const chat = deps.chat && boundedChat(deps.chat, { answerMs });
  const { perks } = deps.facts.contracts;
  const { questionMs, looks, ...turns } = settings.constraints;
  const inTurn = createTurns<Awaited<ReturnType<typeof askEligibility>>>({
    ...turns,
    nowMs: steadyClock().now,
  });
  const externalApi = createExternalApi({
    database,
    businessTime,
    random,
    log,
    questionMs,
    standing: async ({ brandId, userAddress: address }, ttlSeconds) =>
      chat && ttlSeconds * 1_000 > looks.lookEveryMs
        ? membershipText(await readMemberships({ database, chat, log }, { brandId, address }))
        : null,
    ask: (question) =>
      // Another brand that names the same server must not keep this one from asking it.
      inTurn(`${question.brandId} ${question.url}`, () => askEligibility(outgoing, question)),
  });
  const check = createCheckConstraints({
    database,
    externalApi,
    chat,
    log,
    holdsPerk: async (holding) => (await perksHeld({ rpc, perks }, holding)) > 0n,
  });
  return { check, looks: createResultLooks({ ...deps, chat }, looks) };
}
