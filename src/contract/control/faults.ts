/** Faults of the emulator, as the control API has them: what is set, what can be set, and how to clear it. */
import { z } from 'zod';
import { named } from '../endpoint.ts';
import { type AnswerOf, endpoint } from './control-endpoint.ts';
import { bodyOf, instant, requiredText } from './fields.ts';

const TEXT_MAX = 100;
const text = (expected: string) => requiredText(TEXT_MAX, expected);

const faultShape = z.object({
  id: z.string(),
  seam: z.string(),
  effect: z.string().meta({ description: 'As it was set, with its amount: `slow:300ms`.' }),
  setAt: instant(),
  timesLeft: z.int().nullable().meta({ description: 'Uses that it still strikes; null without a limit.' }),
  until: instant().nullable().meta({ description: "On the emulator's clock; null without a limit." }),
  struck: z.int().meta({ description: 'Uses that it has struck.' }),
});
export type ShownFault = z.output<typeof faultShape>;

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

const cleared = {
  description: 'What was cleared.',
  body: named('FaultsCleared', z.object({ cleared: z.array(faultShape) })),
};

export const listFaults = endpoint('GET /faults', {
  id: 'listFaults',
  tag: 'Faults',
  summary: 'What fails on purpose now, and what could',
  answer: {
    description: 'The faults and the seams.',
    body: named(
      'FaultList',
      z.object({
        faults: z.array(faultShape).meta({ description: 'Those that are set, the oldest first.' }),
        seams: z.array(seam).meta({ description: 'What can be made to fail.' }),
      }),
    ),
  },
});
export type FaultList = AnswerOf<typeof listFaults>;

export const setFault = endpoint('POST /faults', {
  id: 'setFault',
  tag: 'Faults',
  summary: 'Make something outside of the service fail',
  description:
    'The fault strikes until it has struck `times` uses, until `for` has passed, or until it is cleared.',
  status: 201,
  body: named(
    'FaultWish',
    bodyOf({
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
    }),
  ),
  example: { body: { seam: 'node', effect: 'slow:300ms', for: '10m' } },
  answer: { description: 'The fault.', body: named('Fault', faultShape) },
  refusals: ['invalid_body', 'invalid_settings'],
  undo: 'passes',
});

export const clearFault = endpoint('DELETE /faults/{name}', {
  id: 'clearFault',
  tag: 'Faults',
  summary: 'Clear one fault, or all of a seam',
  path: z.object({ name: z.string().meta({ description: 'Id of a fault, or name of a seam.' }) }),
  example: { path: { name: 'fault-1' } },
  answer: cleared,
  refusals: ['fault_not_found'],
  undo: 'passes',
});

export const clearFaults = endpoint('DELETE /faults', {
  id: 'clearFaults',
  tag: 'Faults',
  summary: 'Clear all faults',
  answer: cleared,
  undo: 'passes',
});
export type ClearedFaults = AnswerOf<typeof clearFaults>;

export const faultEndpoints = [listFaults, setFault, clearFault, clearFaults];
