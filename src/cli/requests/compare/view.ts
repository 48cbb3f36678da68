/** Differences for people: one a line, the side that has nothing there marked by its sign. */

import type { Difference } from '../../talk/requests/diff.ts';
import type { Style } from '../../terminal/style.ts';

const VALUE_MAX = 60;

export const differenceLines = (differences: readonly Difference[], style: Style): string[] =>
  differences.map((one) => {
    const path = style.bold(one.path);
    if (!('a' in one)) return `  ${style.green('+')} ${path}  ${valueText(one.b)}`;
    if (!('b' in one)) return `  ${style.red('-')} ${path}  ${valueText(one.a)}`;
    return `  ${style.yellow('~')} ${path}  ${valueText(one.a)} → ${valueText(one.b)}`;
  });

function valueText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX - 1)}…` : text;
}
