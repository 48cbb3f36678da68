/** The parameters of shortcodes: what is unknown falls back to the default, with a note for administrators. */
import { type LeaderboardWish, metrics, periods } from '../../plugin/plugin.ts';
import { type PerkCategory, perkCategories } from './shortcode-views.ts';

export type Parameters = Record<string, string>;

interface Read<Value> {
  value: Value;
  notes: string[];
}

const LIMIT_DEFAULT = 10;
const LIMIT_MAX = 100;

/** Notes on parameters that the shortcode does not have. */
export const unknownNotes = (given: Parameters, known: string[]): string[] =>
  Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) =>
      known.length === 0
        ? `the shortcode takes no parameters, and ignores “${name}”.`
        : `the shortcode has no parameter “${name}”; it takes ${known.join(', ')}.`,
    );

function oneOf<Value extends string>(
  given: Parameters,
  name: string,
  known: readonly Value[],
): { value: Value; notes: string[] } {
  const wanted = given[name];
  const found = known.find((value) => value === wanted);
  const first = known[0] as Value;
  return found !== undefined || wanted === undefined
    ? { value: found ?? first, notes: [] }
    : {
        value: first,
        notes: [`“${wanted}” is not a ${name}, “${first}” is shown; use ${known.join(', ')}.`],
      };
}

/** Contract: Shortcodes. Of the site's own pages, too: they take the same from their address. */
export function leaderboardWish(given: Parameters): Read<LeaderboardWish> {
  const metric = oneOf(given, 'metric', metrics);
  const period = oneOf(given, 'period', periods);
  const wanted = given.limit;
  const isLimit = wanted === undefined || (/^\d{1,3}$/.test(wanted) && +wanted >= 1 && +wanted <= LIMIT_MAX);
  const limit = isLimit && wanted !== undefined ? Number(wanted) : LIMIT_DEFAULT;
  const limitNotes = isLimit
    ? []
    : [`“${wanted}” is not a limit, ${LIMIT_DEFAULT} are shown; use a number from 1 to ${LIMIT_MAX}.`];
  return {
    value: { metric: metric.value, period: period.value, limit },
    notes: [
      ...metric.notes,
      ...period.notes,
      ...limitNotes,
      ...unknownNotes(given, ['metric', 'period', 'limit']),
    ],
  };
}

export function perkCategory(given: Parameters): Read<PerkCategory> {
  const category = oneOf(given, 'category', perkCategories);
  return { ...category, notes: [...category.notes, ...unknownNotes(given, ['category'])] };
}
