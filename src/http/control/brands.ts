/** Brands over the control API: the same routes whether an emulator or a database is behind them. */
import type { Context } from 'hono';
import * as keys from '../../actions/brands/brand-keys.ts';
import * as rules from '../../actions/brands/manage-brands.ts';
import * as brands from '../../actions/brands/manage-brands.ts';
import { changeBrand } from '../../actions/brands/manage-brands.ts';
import type { ManageBrandsDeps } from '../../actions/brands/named-brand.ts';
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
import type { BrandId } from '../../rules/brands/brand.ts';
import { readSingle } from '../../rules/brands/settings.ts';
import { brandDetailReply, brandReply, newKeyReply, ruleReply } from './brand-reply.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';

export interface ControlBrandsDeps extends ManageBrandsDeps {
  /** Gives a new brand RWT to pay from; absent where RWT cannot be created for free. */
  openEscrow?: ((brandId: BrandId, amount: number) => Promise<void>) | undefined;
  /** Gives a new brand a wallet that pays its users' gas; left out where only the operator can. */
  openGasWallet?: ((brandId: BrandId) => Promise<void>) | undefined;
  /** Whether the caller may see secrets; changes are guarded before they get here. */
  maySeeSecrets: (context: Context) => boolean;
}

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
    const brand = await changeBrand(deps, path.name, body);
    return 'refusal' in brand ? brand : brandDetailReply(brand);
  }),
  controlHandler(setRule, async ({ path, body }) => {
    const rule = await rules.changeRule(deps, path, body);
    return 'refusal' in rule ? rule : ruleReply(rule);
  }),
  controlHandler(removeRule, ({ path }) => rules.removeRule(deps, path)),
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
