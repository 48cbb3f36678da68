/** Settings as a table for people: value and origin of each, then what is wrong with them. */

import type { Style } from '../terminal/style.ts';
import type { EffectiveSetting, SettingProblem } from './effective-settings.ts';

export function settingsTable(
  { settings, problems }: { settings: readonly EffectiveSetting[]; problems: readonly SettingProblem[] },
  style: Style,
): string {
  const nameWidth = Math.max(...settings.map(({ setting }) => setting.length));
  const valueWidth = Math.max(...settings.map(({ value }) => (value ?? 'not set').length));
  const rows = settings.map(({ setting, value, source, origin, needed }) => {
    const shown = (value ?? 'not set').padEnd(valueWidth);
    const from = needed
      ? style.yellow('needed')
      : style.dim(origin === null ? source : `${source} ${origin}`);
    return `${setting.padEnd(nameWidth)}  ${value === null ? style.dim(shown) : shown}  ${from}`;
  });
  const wrong = problems.map(({ problem, fix }) => `${style.red('problem')}  ${problem}: ${fix}`);
  return [...rows, ...wrong].join('\n');
}
