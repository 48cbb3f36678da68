/** The closed list of steps. */
import { code } from './account-code.ts';
import { chain, fault, invalidate, note, restore, snapshot, verify } from './checks.ts';
import { bulk, checkIn, clock, event, http, inbox, pregenerate, redeem, site } from './events.ts';
import { checkout, mint, pay, refund, webhook } from './payments.ts';
import { relay } from './relay.ts';
import type { Capability } from './step-context.ts';
import type { StepKind } from './step-kind.ts';

export const stepKinds: Record<string, StepKind> = {
  event,
  bulk,
  'check-in': checkIn,
  redeem,
  pregenerate,
  checkout,
  pay,
  refund,
  mint,
  webhook,
  relay,
  chain,
  code,
  inbox,
  clock,
  site,
  invalidate,
  fault,
  snapshot,
  restore,
  verify,
  http,
  note,
};

/** What a step needs of its target; undefined for those that only use the API. */
export function needOf(kind: string, input: unknown): Capability | undefined {
  const needs = stepKinds[kind]?.needs;
  return typeof needs === 'function' ? needs(input) : needs;
}
