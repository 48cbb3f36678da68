/** What seed files change, for people: a line each. */
import type { SeedAnswer } from '../../contract/control/seed.ts';
import type { Style } from '../terminal/style.ts';

type SeedChange = SeedAnswer['changes'][number];

/** `Shop  account_creation  reward  10 → 33`. */
export const changeLines = (changes: readonly SeedChange[], style: Style): string[] =>
  changes.map(({ brand, eventType, setting, from, to }) => {
    const about = [style.bold(brand), eventType].filter(Boolean).join('  ');
    if (setting === null) return `${about}  ${style.green('added')}`;
    return `${about}  ${setting}  ${from ?? 'not set'} → ${to ?? 'not set'}`;
  });
