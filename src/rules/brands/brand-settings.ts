/** A brand and its settings: the ledger keeps some of them in columns, all others in the brand's profile. */
import type { Brand, BrandProfile } from './brand.ts';
import {
  type DefaultsFor,
  defaultsOf,
  given,
  readSettings,
  type SettingProblem,
  type Settings,
} from './settings.ts';
import { brandSpec, rowsOf } from './spec.ts';

/** The settings of one brand, by name. */
export type BrandSettings = Pick<Brand, 'brandId' | 'name' | 'automation'> & BrandProfile;

export const settingsOfBrand = ({ brandId, name, automation, profile }: Brand): BrandSettings => ({
  brandId,
  name,
  automation,
  ...profile,
});

export const brandWith = ({ brandId, name, automation, ...profile }: BrandSettings): Brand => ({
  brandId,
  name,
  automation,
  profile: given(profile),
});

/** The brand with the settings applied, or everything that is wrong with them. */
export function applyBrandSettings(
  brand: Brand,
  settings: Settings,
): { brand: Brand } | { problems: SettingProblem[] } {
  const before = settingsOfBrand(brand);
  const { values, problems } = readSettings({ spec: brandSpec, of: 'brand' }, before, settings);
  return problems.length > 0 ? { problems } : { brand: brandWith(values as BrandSettings) };
}

/** A brand as `settings` describe it: id, name and domains must be among them. */
export function newBrand(
  settings: Settings,
  defaultsFor: DefaultsFor,
): { brand: Brand } | { problems: SettingProblem[] } {
  const said = { brandId: undefined, ...settings };
  const table = { spec: brandSpec, of: 'brand', asNew: true };
  const { values, problems } = readSettings(table, defaultsOf(brandSpec, defaultsFor), said);
  for (const [setting, row] of rowsOf(brandSpec)) {
    if (row.required && !(setting in said)) problems.push({ setting, message: 'is missing' });
  }
  return problems.length > 0 ? { problems } : { brand: brandWith(values as BrandSettings) };
}
