/** Which settings of a brand and its rules differ from those that a seed file gives them. */
import { formatDuration } from '../../lib/duration.ts';
import { type Brand, type EventRule, isUnlimited } from './brand.ts';
import { settingsOfBrand } from './brand-settings.ts';
import { settingsOfRule } from './rule-settings.ts';
import { brandSpec, rowsOf, ruleSpec, type Spec } from './spec.ts';

/** A brand with its rules, in the ledger or in a file. */
export interface SeededBrand {
  brand: Brand;
  rules: readonly EventRule[];
}

/** One difference. `setting` is null where the whole brand, or the whole rule, is new. */
export interface SeedChange {
  brandId: string;
  brand: string;
  /** Null for a setting of the brand itself. */
  eventType: string | null;
  setting: string | null;
  /** As people write it; null where there is no value. */
  from: string | null;
  to: string | null;
}

/** What would have to change in the ledger so that it says what the file says. Rules that the file does not name stay. */
export function seedChanges(known: SeededBrand | undefined, wanted: SeededBrand): SeedChange[] {
  const { brandId, name: brand } = wanted.brand;
  const about = (eventType: string | null, changes: readonly Changed[]): SeedChange[] =>
    changes.map((change) => ({ brandId, brand, eventType, ...change }));
  if (!known) return about(null, [ADDED]);
  const before = new Map(known.rules.map((rule) => [rule.eventType, rule]));
  const ofBrand = differing(brandSpec, settingsOfBrand(known.brand), settingsOfBrand(wanted.brand));
  const ofRules = wanted.rules.flatMap((rule) => {
    const old = before.get(rule.eventType);
    const changes = old ? differing(ruleSpec, settingsOfRule(old), settingsOfRule(rule)) : [ADDED];
    return about(rule.eventType, changes);
  });
  return [...about(null, ofBrand), ...ofRules];
}

type Changed = Pick<SeedChange, 'setting' | 'from' | 'to'>;
const ADDED: Changed = { setting: null, from: null, to: 'added' };

function differing(spec: Spec, before: object, after: object): Changed[] {
  const settingOf = (settings: object, name: string) => (settings as Record<string, unknown>)[name];
  return rowsOf(spec).flatMap(([setting, { kind }]) => {
    const [from, to] = [settingOf(before, setting), settingOf(after, setting)];
    return comparable(from) === comparable(to)
      ? []
      : [{ setting, from: written(kind, from), to: written(kind, to) }];
  });
}

/** A value as people write it: `24h`, `unlimited`, `on`, `a.example,b.example`. */
function written(kind: string, value: unknown): string | null {
  if (value === undefined) return null;
  if (kind === 'duration') return value === 0 ? '0' : formatDuration(Number(value));
  if (kind === 'limit' && isUnlimited(Number(value))) return 'unlimited';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return Array.isArray(value)
    ? value.join(',')
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);
}

/** The order of a list counts, that of a map's entries does not. */
function comparable(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  return JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
