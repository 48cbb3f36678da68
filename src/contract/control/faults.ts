/** Faults of the emulator, as the control API has them: what is set, what can be set, and how to clear it. */
import { z } from 'zod';
import { type Endpoint, named } from '../endpoint.ts';
import { endpoint } from './control-endpoint.ts';
import type { ControlRefusalCode } from './refusals.ts';

const instant = () => z.iso.datetime();
const TEXT_MAX = 100;
const text = (expected: string) =>
  z.string({ error: expected }).trim().min(1, { error: expected }).max(TEXT_MAX, { error: expected });

export const faultWish = z.strictObject(
  {
    seam: text('must be the name of a seam').meta({ description: 'What fails, such as `node`.' }),
    effect: text('must be an effect of the seam').optional().meta({
      description: 'How it fails, such as `away` or `slow:300ms`. Default: the first effect of the seam.',
    }),
    times: z.number({ error: 'must be a whole number' }).optional().meta({
      description: 'How many uses of the seam it strikes, whoever makes them.',
    }),
    for: text('must be a duration such as 10m').optional().meta({
      description: "How long it stays set, on the emulator's clock.",
    }),
  },
  {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? 'is not a field of this body; its fields are seam, effect, times, for'
        : 'must be a JSON object',
  },
);

export const faultResult = z.object({
  id: z.string(),
  seam: z.string(),
  effect: z.string().meta({ description: 'As it was set, with its amount: `slow:300ms`.' }),
  setAt: instant(),
  timesLeft: z.int().nullable().meta({ description: 'Uses that it still strikes; null without a limit.' }),
  until: instant().nullable().meta({ description: "On the emulator's clock; null without a limit." }),
  struck: z.int().meta({ description: 'Uses that it has struck.' }),
});

const seam = z.object({
  seam: z.string(),
  is: z.string(),
  effects: z.array(
    z.object({
      effect: z.string().meta({ description: 'With an example of its amount, where it takes one.' }),
      does: z.string(),
    }),
  ),
});

export const faultList = z.object({
  faults: z.array(faultResult).meta({ description: 'Those that are set, the oldest first.' }),
  seams: z.array(seam).meta({ description: 'What can be made to fail.' }),
});

export const faultsCleared = z.object({ cleared: z.array(faultResult) });

const cleared = { description: 'What was cleared.', body: named('FaultsCleared', faultsCleared) };

export const faultEndpoints: readonly Endpoint<ControlRefusalCode>[] = [
  endpoint(['get', '/faults', 'listFaults', 'Faults', 'What fails on purpose now, and what could'], {
    answer: { description: 'The faults and the seams.', body: named('FaultList', faultList) },
  }),
  endpoint(['post', '/faults', 'setFault', 'Faults', 'Make something outside of the service fail'], {
    description:
      'The fault strikes until it has struck `times` uses, until `for` has passed, or until it is cleared.',
    status: 201,
    body: named('FaultWish', faultWish),
    example: { body: { seam: 'node', effect: 'slow:300ms', for: '10m' } },
    answer: { description: 'The fault.', body: named('Fault', faultResult) },
    refusals: ['invalid_body', 'invalid_settings'],
  }),
  endpoint(['delete', '/faults/{name}', 'clearFault', 'Faults', 'Clear one fault, or all of a seam'], {
    path: z.object({ name: z.string().meta({ description: 'Id of a fault, or name of a seam.' }) }),
    example: { path: { name: 'fault-1' } },
    answer: cleared,
    refusals: ['fault_not_found'],
  }),
  endpoint(['delete', '/faults', 'clearFaults', 'Faults', 'Clear all faults'], { answer: cleared }),
];
