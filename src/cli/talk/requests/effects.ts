/** What a caller expects a replay to bring about, and how that is compared with what it did. */
import { effectNames } from '../../../client/replay/effect-names.ts';
import { type Effects, effectsText } from '../../../client/replay/effects.ts';

/** `none`, or how much of some of them. */
export type ExpectedEffects = 'none' | Partial<Effects>;

/** What is wrong with the effects; undefined when they are as expected. */
export function effectsProblem(effects: Effects, expected: ExpectedEffects | undefined): string | undefined {
  if (expected === undefined) return undefined;
  const wrong = effectNames.filter((name) => {
    const wanted = expected === 'none' ? 0 : expected[name];
    return wanted !== undefined && wanted !== effects[name];
  });
  if (wrong.length === 0) return undefined;
  if (expected === 'none') return `No effects were expected, and there were ${effectsText(effects)}.`;
  const said = wrong.map((name) => `${expected[name]} ${name}, and there were ${effects[name]}`);
  return `Expected ${said.join('; ')}.`;
}
