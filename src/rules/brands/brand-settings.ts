/** What may be set about a brand, with the same bounds as in a fixture. */

import { addressKey } from '../user-key.ts';
import type { Brand, BrandProfile } from './brand.ts';
import { configuredHost } from './domain.ts';
import {
  above0,
  listOf,
  oneOf,
  onOrOff,
  type Read,
  type Reader,
  type SettingProblem,
  type Settings,
  shown,
  textUpTo,
} from './settings.ts';

type Change = (brand: Brand) => Brand;

const domain: Reader<string> = (value) => {
  const host = typeof value === 'string' ? configuredHost(value.trim()) : undefined;
  return host === undefined
    ? { expected: 'must be a domain of its own, such as shop.example (no public suffix)' }
    : { value: host };
};
const eventType: Reader<string> = (value) =>
  typeof value === 'string' && /^[A-Za-z0-9_]{1,50}$/.test(value)
    ? { value }
    : { expected: 'must be an event type: 1 to 50 letters, digits and underscores' };

const change =
  <T>(read: Reader<T>, apply: (brand: Brand, value: T) => Brand) =>
  (given: unknown): Read<Change> => {
    const got = read(given);
    return 'expected' in got ? got : { value: (brand) => apply(brand, got.value) };
  };
const inProfile = <N extends keyof BrandProfile>(name: N, read: Reader<BrandProfile[N]>) =>
  change(read, (brand, value) => ({ ...brand, profile: { ...brand.profile, [name]: value } }));

const plain: Record<string, (given: unknown) => Read<Change>> = {
  name: change(textUpTo(200), (brand, name) => ({ ...brand, name })),
  automation: change(onOrOff, (brand, automation) => ({ ...brand, automation })),
  domains: inProfile('domains', listOf(domain)),
  clientBypass: inProfile('clientBypass', oneOf(['allow', 'credential'])),
  mintTo: inProfile('mintTo', oneOf(['wallet', 'escrow'])),
  pregenerate: inProfile('pregenerate', oneOf(['open', 'credential'])),
  gasBudget: inProfile('gasBudget', above0),
};

/** Maps of which single entries can be set, as in `platforms.telegram`. */
const maps: Record<string, { key: RegExp; keyIs: string; read: Reader<string> }> = {
  platforms: {
    key: /^[a-z][a-z0-9_-]{0,29}$/,
    keyIs: 'a platform such as telegram',
    read: textUpTo(200),
  },
  eventNameMapping: { key: /^[A-Za-z0-9][\w.:-]{0,99}$/, keyIs: 'a name of an event', read: eventType },
};

export const brandSettings = [...Object.keys(plain), 'platforms.<platform>', 'eventNameMapping.<name>'];

/** The brand with the settings applied, or everything that is wrong with them. Nothing as an entry removes it. */
export function applyBrandSettings(
  brand: Brand,
  settings: Settings,
): { brand: Brand } | { problems: SettingProblem[] } {
  const problems: SettingProblem[] = [];
  let changed = brand;
  for (const [setting, given] of Object.entries(settings)) {
    const read = readSetting(setting, given);
    if ('expected' in read) problems.push({ setting, message: `${read.expected}, not ${shown(given)}` });
    else changed = read.value(changed);
  }
  return problems.length > 0 ? { problems } : { brand: changed };
}

/** A brand as `settings` describe it: id, name and domains must be among them. */
export function newBrand(settings: Settings): { brand: Brand } | { problems: SettingProblem[] } {
  const { brandId: givenId, ...rest } = settings;
  const brandId = typeof givenId === 'string' ? addressKey(givenId) : undefined;
  const blank: Brand = {
    brandId: brandId ?? '0x',
    name: '',
    automation: true,
    profile: { domains: [], platforms: {}, clientBypass: 'credential', mintTo: 'wallet' },
  };
  const made = applyBrandSettings(blank, rest);
  const problems = 'problems' in made ? made.problems : [];
  if (!brandId) {
    problems.unshift({
      setting: 'brandId',
      message: `must be an address: 0x and 40 hexadecimal digits, not ${shown(givenId)}`,
    });
  }
  for (const setting of ['name', 'domains']) {
    if (rest[setting] === undefined) problems.push({ setting, message: 'is missing' });
  }
  return 'problems' in made || problems.length > 0 ? { problems } : made;
}

function readSetting(setting: string, given: unknown): Read<Change> {
  const simple = Object.hasOwn(plain, setting) ? plain[setting] : undefined;
  if (simple) return simple(given);
  const dot = setting.indexOf('.');
  const name = dot === -1 ? setting : setting.slice(0, dot);
  const map = Object.hasOwn(maps, name) ? maps[name] : undefined;
  if (!map) return { expected: `is no setting of a brand; there are ${brandSettings.join(', ')}` };
  if (dot === -1) return readMap(name, { map, given });
  const key = setting.slice(dot + 1);
  if (!map.key.test(key)) return { expected: `must name ${map.keyIs} after the dot` };
  if (given === null || given === '') return { value: withEntries(name, (entries) => entries.delete(key)) };
  const read = map.read(given);
  return 'expected' in read ? read : { value: withEntries(name, (entries) => entries.set(key, read.value)) };
}

/** A whole map at once replaces the one before. */
function readMap(name: string, { map, given }: { map: (typeof maps)[string]; given: unknown }): Read<Change> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return { expected: `must be a map, or set one entry as ${name}.<name>` };
  }
  const entries = new Map<string, string>();
  for (const [key, one] of Object.entries(given)) {
    const read = map.read(one);
    if (!map.key.test(key)) return { expected: `must have ${map.keyIs} for each name` };
    if ('expected' in read) return read;
    entries.set(key, read.value);
  }
  return {
    value: withEntries(name, (before) => {
      before.clear();
      for (const [key, value] of entries) before.set(key, value);
    }),
  };
}

function withEntries(name: string, edit: (entries: Map<string, string>) => void): Change {
  return (brand) => {
    const field = name === 'platforms' ? 'platforms' : 'eventNameMapping';
    const entries = new Map(Object.entries(brand.profile[field] ?? {}));
    edit(entries);
    return { ...brand, profile: { ...brand.profile, [field]: Object.fromEntries(entries) } };
  };
}
