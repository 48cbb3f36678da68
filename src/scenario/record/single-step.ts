/** One kept request as a step, to be put under the `steps:` of a scenario. */

import { stringify } from 'yaml';
import type { RequestDetail } from '../../contract/control/requests.ts';
import { isRandom, type KnownStack, namesOf, renamed } from './known-names.ts';
import { requestStep } from './request-step.ts';

/** `leftOut`: why a scenario cannot have it. Random ids are drawn anew with each run. */
export function singleStep(
  request: RequestDetail,
  stack: KnownStack,
): { yaml: string } | { leftOut: string } {
  const names = namesOf(stack);
  const isNamed = (text: string) => names.has(text.toLowerCase());
  const recorded = requestStep(request, { stack, isNamed });
  if (recorded === 'by itself') return { leftOut: 'the payment processor sends it by itself' };
  if ('leftOut' in recorded) return recorded;
  const { expect, ...step } = recorded.step;
  const known = (word: string) => names.get(word.toLowerCase());
  const drawn = (word: string) => {
    if (!isRandom(word)) return undefined;
    return word.startsWith('0x') ? `0x\${hex(32)}` : `\${uuid()}`;
  };
  const written = {
    ...(renamed(step, (word) => known(word) ?? drawn(word)) as typeof step),
    ...(expect !== undefined && { expect: renamed(expect, known) }),
  };
  return { yaml: stringify([written], { lineWidth: 110 }).trimEnd() };
}
