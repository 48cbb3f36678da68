/** `rewards brand list|show|create|rotate-key|dns`. */
import type { BrandDetail } from '../../client/bodies.ts';
import { brandSpec } from '../../rules/brands/spec.ts';
import type { Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import { intoSecretFile } from '../machine/secret-file.ts';
import { isObject } from '../service/assignments.ts';
import { replyResult } from '../service/control-reply.ts';
import { settingsFrom } from './setting-flags.ts';
import { type BrandOptions, withBrands } from './target.ts';
import { brandLine, brandText, fundingText, newKeyLines, spendDefaultLines } from './view.ts';

export const listBrands: Handler<BrandOptions> = (context, options) =>
  withBrands(context, options, async ({ brands }) =>
    replyResult(await brands.list(), {
      hasRightForm: (body) => isObject(body) && Array.isArray(body.brands),
      text: (body, style) =>
        body.brands.length === 0
          ? style.dim('no brand yet: rewards brand create')
          : body.brands.map((brand) => brandLine(brand, style)).join('\n'),
    }),
  );

export const showBrand: Handler<BrandOptions & { brand?: string }> = (context, options) =>
  withBrands(context, options, async ({ brands, defaultBrand }) => {
    const name = options.brand ?? defaultBrand;
    if (name === undefined) {
      throw usageError(
        'The brand is missing.',
        '`rewards brand list` shows all; name one by its id or by one of its domains.',
      );
    }
    return replyResult(await brands.show(name), { hasRightForm: isBrandDetail, text: brandText });
  });

/** Options, including the flags of the settings. */
interface CreateBrandOptions extends BrandOptions {
  brandId: string;
  escrow?: string;
  out?: string;
}

export const createBrand: Handler<CreateBrandOptions> = (context, options) => {
  const { brandId, escrow } = options;
  const settings = {
    brandId,
    ...settingsFrom(brandSpec, options),
    ...(escrow !== undefined && { escrow }),
  };
  return intoSecretFile(context, options.out, () =>
    withBrands(context, options, async ({ brands }) =>
      replyResult(await brands.create(settings), {
        hasRightForm: isBrandDetail,
        text: (brand, style) =>
          [
            brandText(brand, style),
            ...spendDefaultLines(brand, settings, style),
            ...newKeyLines(brand, style),
          ].join('\n'),
        // The names under which this program itself reads them; the shell has others' beside them.
        env: ({ brandId: rewardsBrandId, apiKey: rewardsApiKey }) => ({ rewardsBrandId, rewardsApiKey }),
      }),
    ),
  );
};

export const rotateKey: Handler<BrandOptions & { brand: string; overlap: string; out?: string }> = (
  context,
  options,
) =>
  intoSecretFile(context, options.out, () =>
    withBrands(context, options, async ({ brands }) =>
      replyResult(await brands.rotateKey(options.brand, options.overlap), {
        hasRightForm: (body) => isObject(body) && typeof body.apiKey === 'string',
        text: (key, style) => newKeyLines(key, style).join('\n'),
        env: ({ apiKey: rewardsApiKey }) => ({ rewardsApiKey }),
      }),
    ),
  );

interface FundOptions extends BrandOptions {
  brand: string;
  amount: string;
  reason?: string;
  transaction?: string;
  out?: string;
}

export const fundBrand: Handler<FundOptions> = (
  context,
  { brand, amount, reason, transaction, out, ...options },
) =>
  intoSecretFile(context, out, () =>
    withBrands(context, options, async ({ brands }) => {
      const wish = {
        amount,
        ...(reason !== undefined && { reason }),
        ...(transaction !== undefined && { transaction }),
      };
      return replyResult(await brands.fund(brand, wish), {
        hasRightForm: (body) => isObject(body) && typeof body.state === 'string',
        text: fundingText,
        env: (funding) => ({ rewards: funding }),
      });
    }),
  );

export const dnsRecord: Handler<BrandOptions & { brand: string; domain: string }> = (context, options) =>
  withBrands(context, options, async ({ brands }) =>
    replyResult(await brands.dnsRecord(options.brand, options.domain), {
      hasRightForm: (body) => isObject(body) && typeof body.value === 'string',
      // In the form of a zone file, ready to be pasted.
      text: ({ name, value }) => `${name}. IN TXT "${value}"`,
    }),
  );

const isBrandDetail = (body: unknown): body is BrandDetail =>
  isObject(body) && typeof body.brandId === 'string' && Array.isArray(body.rules);
