/** `rewards brand list|show|create|rotate-key|dns`. */

import * as brands from '../../contract/control/brands.ts';
import * as mints from '../../contract/control/mints.ts';
import { brandSpec } from '../../rules/brands/spec.ts';
import type { Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import { intoSecretFile } from '../machine/secret-file.ts';
import { type ControlOptions, withControl } from '../service/control.ts';
import { replyResult } from '../service/control-reply.ts';
import { settingsFrom } from './brand-flags.ts';
import { brandLine, brandText, fundingText, newKeyLines, spendDefaultLines } from './brand-view.ts';

export const listBrands: Handler<ControlOptions> = (context, options) =>
  withControl(context, options, async ({ call }) =>
    replyResult(await call(brands.listBrands), {
      text: (body, style) =>
        body.brands.length === 0
          ? style.dim('no brand yet: rewards brand create')
          : body.brands.map((brand) => brandLine(brand, style)).join('\n'),
    }),
  );

export const showBrand: Handler<ControlOptions & { brand?: string }> = (context, options) =>
  withControl(context, options, async ({ call, emulator }) => {
    const name = options.brand ?? emulator?.run?.brands[0]?.brandId;
    if (name === undefined) {
      throw usageError(
        'The brand is missing.',
        '`rewards brand list` shows all; name one by its id or by one of its domains.',
      );
    }
    return replyResult(await call(brands.showBrand, { path: { name } }), { text: brandText });
  });

/** Options, including the flags of the settings. */
interface CreateBrandOptions extends ControlOptions {
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
    withControl(context, options, async ({ call }) =>
      replyResult(await call(brands.createBrand, { body: settings }), {
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

export const rotateKey: Handler<ControlOptions & { brand: string; overlap: string; out?: string }> = (
  context,
  options,
) =>
  intoSecretFile(context, options.out, () =>
    withControl(context, options, async ({ call }) =>
      replyResult(
        await call(brands.rotateKey, { path: { name: options.brand }, body: { overlap: options.overlap } }),
        {
          text: (key, style) => newKeyLines(key, style).join('\n'),
          env: ({ apiKey: rewardsApiKey }) => ({ rewardsApiKey }),
        },
      ),
    ),
  );

interface FundOptions extends ControlOptions {
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
    withControl(context, options, async ({ call }) => {
      const wish = {
        amount,
        ...(reason !== undefined && { reason }),
        ...(transaction !== undefined && { transaction }),
      };
      return replyResult(await call(mints.fundBrand, { path: { name: brand }, body: wish }), {
        text: fundingText,
        env: (funding) => ({ rewards: funding }),
      });
    }),
  );

export const dnsRecord: Handler<ControlOptions & { brand: string; domain: string }> = (context, options) =>
  withControl(context, options, async ({ call }) =>
    replyResult(
      await call(brands.brandDns, { path: { name: options.brand }, query: { domain: options.domain } }),
      {
        // In the form of a zone file, ready to be pasted.
        text: ({ name, value }) => `${name}. IN TXT "${value}"`,
      },
    ),
  );
