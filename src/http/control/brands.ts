/** Brands over the control API: the same routes whether an emulator or a database is behind them, and how brands, rules and keys are shown. */
import type { Context } from 'hono';
import type { NewKey } from '../../actions/brands/brand-keys.ts';
import * as keys from '../../actions/brands/brand-keys.ts';
import * as brands from '../../actions/brands/manage-brands.ts';
import type { ManageBrandsDeps } from '../../actions/brands/named-brand.ts';
import type { BrandDetail, BrandOverview } from '../../actions/brands/show-brands.ts';
import * as shown from '../../actions/brands/show-brands.ts';
import { dnsRecord } from '../../actions/brands/verify-dns.ts';
import {
  brandDns,
  createBrand,
  listBrands,
  removeRule,
  rotateKey,
  setBrand,
  setRule,
  showBrand,
} from '../../contract/control/brands.ts';
import { shownSettings } from '../../contract/settings-schema.ts';
import type { BrandId, EventRule } from '../../rules/brands/brand.ts';
import { settingsOfBrand } from '../../rules/brands/brand-settings.ts';
import { maybePaidTwice } from '../../rules/brands/check-in-events.ts';
import { paysWithoutKey } from '../../rules/brands/pays-without-key.ts';
import { settingsOfRule } from '../../rules/brands/rule-settings.ts';
import { readSingle } from '../../rules/brands/settings.ts';
import { brandSpec, ruleSpec } from '../../rules/brands/spec.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';

const instant = (ms: number) => new Date(ms).toISOString();

const brandReply = (brand: BrandOverview) => ({
  ...shownSettings(brandSpec, settingsOfBrand(brand)),
  provenDomains: brand.provenDomains,
  createdAt: instant(brand.createdAtMs),
  funds: {
    deposited: brand.deposited,
    promised: brand.promised,
    available: brand.deposited - brand.promised,
  },
});

const brandDetailReply = (brand: BrandDetail) => ({
  ...brandReply(brand),
  keys: brand.keys.map(({ keyId, createdAtMs, expiresAtMs }) => ({
    keyId,
    createdAt: instant(createdAtMs),
    expiresAt: expiresAtMs === null ? null : instant(expiresAtMs),
  })),
  rules: brand.rules.map(ruleReply),
  warnings: maybePaidTwice(brand.profile, brand.rules),
  paysWithoutKey: paysWithoutKey({ brand, rules: brand.rules }),
  gasWallet: brand.gasWallet,
  spending: brand.spending.map(({ endsAtMs, ...window }) => ({ ...window, endsAt: instant(endsAtMs) })),
});

const ruleReply = (rule: EventRule) => ({
  eventType: rule.eventType,
  ...shownSettings(ruleSpec, settingsOfRule(rule)),
});

const newKeyReply = ({ keyId, apiKey, othersExpireAtMs }: NewKey) => ({
  keyId,
  apiKey,
  othersExpireAt: othersExpireAtMs === null ? null : instant(othersExpireAtMs),
});

export interface ControlBrandsDeps extends ManageBrandsDeps {
  /** Gives a new brand RWT to pay from; absent where RWT cannot be created for free. */
  openEscrow?: ((brandId: BrandId, amount: number) => Promise<void>) | undefined;
  /** Gives a new brand a wallet that pays its users' gas; left out where only the operator can. */
  openGasWallet?: ((brandId: BrandId) => Promise<void>) | undefined;
  /** Whether the caller may see secrets; changes are guarded before they get here. */
  maySeeSecrets: (context: Context) => boolean;
}

/** Brands over the control API: the same routes whether an emulator or a database is behind them. */
export const controlBrands = (deps: ControlBrandsDeps): ControlRoute[] => [
  controlHandler(listBrands, async () => ({ brands: (await shown.overviewBrands(deps)).map(brandReply) })),
  controlHandler(createBrand, async ({ body: { escrow, ...settings } }) => {
    const amount = escrow === undefined ? undefined : readEscrow(deps, escrow);
    if (typeof amount === 'string')
      return { refusal: { code: 'invalid_settings', problems: [{ setting: 'escrow', message: amount }] } };
    const created = await brands.createBrand(deps, settings);
    if ('refusal' in created) return created;
    if (amount !== undefined) await deps.openEscrow?.(created.brandId, amount);
    await deps.openGasWallet?.(created.brandId);
    const brand = await shown.showBrand(deps, created.brandId);
    return { ...brandDetailReply('refusal' in brand ? created : brand), ...newKeyReply(created) };
  }),
  controlHandler(showBrand, async ({ path }) => {
    const brand = await shown.showBrand(deps, path.name);
    return 'refusal' in brand ? brand : brandDetailReply(brand);
  }),
  controlHandler(setBrand, async ({ path, body }) => {
    const brand = await brands.changeBrand(deps, path.name, body);
    return 'refusal' in brand ? brand : brandDetailReply(brand);
  }),
  controlHandler(setRule, async ({ path, body }) => {
    const rule = await brands.changeRule(deps, path, body);
    return 'refusal' in rule ? rule : ruleReply(rule);
  }),
  controlHandler(removeRule, ({ path }) => brands.removeRule(deps, path)),
  controlHandler(rotateKey, async ({ path, body }) => {
    const key = await keys.rotateKey(deps, path.name, { overlapMs: body.overlap });
    return 'refusal' in key ? key : newKeyReply(key);
  }),
  controlHandler(brandDns, async ({ path, query }, context) => {
    if (!deps.maySeeSecrets(context)) return { refusal: { code: 'token_missing', guards: 'secrets' } };
    const record = await dnsRecord(deps, path.name, query.domain);
    return 'refusal' in record ? record : { type: 'TXT', ...record };
  }),
];

/** RWT, or the problem with the amount. */
function readEscrow({ openEscrow }: ControlBrandsDeps, escrow: unknown): number | string {
  if (!openEscrow) return "cannot be given here: deposit RWT into the brand's escrow on chain";
  const read = readSingle({ kind: 'whole', least: 1, of: 'RWT' }, escrow);
  return 'expected' in read ? read.expected : read.value;
}
