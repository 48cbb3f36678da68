/** Brands over the control API: the same handlers whether an emulator or a database is behind them. */
import type { Context, Handler } from 'hono';
import { changeBrand } from '../../actions/brands/change-brand.ts';
import { changeRule, removeRule } from '../../actions/brands/change-rules.ts';
import { createBrand } from '../../actions/brands/create-brand.ts';
import { rotateKey } from '../../actions/brands/rotate-key.ts';
import { overviewBrands, showBrand } from '../../actions/brands/show-brands.ts';
import { dnsRecord } from '../../actions/brands/show-dns-record.ts';
import { type FundBrandDeps, fundBrand } from '../../actions/payments/fund-brand.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { readSingle } from '../../rules/brands/settings.ts';
import { aliasHandlers } from './brand-aliases.ts';
import { brandDetailReply, brandReply, newKeyReply, ruleReply } from './brand-reply.ts';
import { readFunding } from './mint-wish.ts';
import { readSettings, refuse } from './refuse.ts';

export interface ControlBrandsDeps extends FundBrandDeps {
  /** Gives a new brand RWT to pay from; absent where RWT cannot be created for free. */
  openEscrow?: ((brandId: BrandId, amount: number) => Promise<void>) | undefined;
  /** Gives a new brand a wallet that pays its users' gas; left out where only the operator can. */
  openGasWallet?: ((brandId: BrandId) => Promise<void>) | undefined;
  /** Whether the caller may see secrets; changes are guarded before they get here. */
  maySeeSecrets: (context: Context) => boolean;
}

const OVERLAP_DEFAULT = '24h';

export function controlBrands(deps: ControlBrandsDeps): Record<string, Handler> {
  return {
    async listBrands(context) {
      const brands = await overviewBrands(deps);
      return context.json({ brands: brands.map(brandReply) });
    },
    async createBrand(context) {
      const body = await readSettings(context);
      if (!body) return refuse(context, { code: 'invalid_body' });
      const { escrow, ...settings } = body;
      const amount = escrow === undefined ? undefined : readEscrow(deps, escrow);
      if (typeof amount === 'string')
        return refuse(context, {
          code: 'invalid_settings',
          problems: [{ setting: 'escrow', message: amount }],
        });
      const created = await createBrand(deps, settings);
      if ('refusal' in created) return refuse(context, created.refusal);
      if (amount !== undefined) await deps.openEscrow?.(created.brandId, amount);
      await deps.openGasWallet?.(created.brandId);
      const brand = await showBrand(deps, created.brandId);
      return context.json(
        { ...brandDetailReply('refusal' in brand ? created : brand), ...newKeyReply(created) },
        201,
      );
    },
    async showBrand(context) {
      const brand = await showBrand(deps, nameOf(context));
      return 'refusal' in brand ? refuse(context, brand.refusal) : context.json(brandDetailReply(brand));
    },
    async setBrand(context) {
      const settings = await readSettings(context);
      if (!settings) return refuse(context, { code: 'invalid_body' });
      const brand = await changeBrand(deps, nameOf(context), settings);
      return 'refusal' in brand ? refuse(context, brand.refusal) : context.json(brandDetailReply(brand));
    },
    async setRule(context) {
      const settings = await readSettings(context);
      if (!settings) return refuse(context, { code: 'invalid_body' });
      const rule = await changeRule(deps, ruleOf(context), settings);
      return 'refusal' in rule ? refuse(context, rule.refusal) : context.json(ruleReply(rule));
    },
    async removeRule(context) {
      const outcome = await removeRule(deps, ruleOf(context));
      return 'refusal' in outcome ? refuse(context, outcome.refusal) : context.json(outcome);
    },
    ...aliasHandlers(deps),
    async rotateKey(context) {
      const settings = await readSettings(context);
      if (!settings) return refuse(context, { code: 'invalid_body' });
      const overlap = readSingle({ kind: 'duration' }, settings.overlap ?? OVERLAP_DEFAULT);
      if ('expected' in overlap) {
        return refuse(context, {
          code: 'invalid_settings',
          problems: [{ setting: 'overlap', message: overlap.expected }],
        });
      }
      const key = await rotateKey(deps, nameOf(context), { overlapMs: overlap.value });
      return 'refusal' in key ? refuse(context, key.refusal) : context.json(newKeyReply(key), 201);
    },
    async fundBrand(context) {
      const settings = await readSettings(context);
      if (!settings) return refuse(context, { code: 'invalid_body' });
      const wish = readFunding(settings, { reasonNeeded: !deps.mints });
      if ('problems' in wish) return refuse(context, { code: 'invalid_settings', problems: wish.problems });
      const funding = await fundBrand(deps, nameOf(context), wish);
      return 'refusal' in funding ? refuse(context, funding.refusal) : context.json(funding, 201);
    },
    async brandDns(context) {
      if (!deps.maySeeSecrets(context)) {
        return refuse(context, { code: 'token_missing', guards: 'secrets' });
      }
      const record = await dnsRecord(deps, nameOf(context), context.req.query('domain') ?? '');
      return 'refusal' in record ? refuse(context, record.refusal) : context.json({ type: 'TXT', ...record });
    },
  };
}

const nameOf = (context: Context) => context.req.param('name') ?? '';
const ruleOf = (context: Context) => ({
  name: nameOf(context),
  eventType: context.req.param('eventType') ?? '',
});

/** RWT, or the problem with the amount. */
function readEscrow({ openEscrow }: ControlBrandsDeps, escrow: unknown): number | string {
  if (!openEscrow) return "cannot be given here: deposit RWT into the brand's escrow on chain";
  const read = readSingle({ kind: 'whole', least: 1, of: 'RWT' }, escrow);
  return 'expected' in read ? read.expected : read.value;
}
