/** `rewards brand list|show|create|rotate-key|dns`. */
import type { BrandDetail } from '../../client/control-bodies.ts';
import { isObject } from '../assignments.ts';
import { atBrandDesk, type DeskOptions } from '../brand-desk.ts';
import type { CommandContext } from '../context.ts';
import { replyResult } from '../control-reply.ts';
import { CliError } from '../errors.ts';
import type { CommandResult } from '../output.ts';
import { brandLine, brandText, newKeyLines } from '../views/brand.ts';
import { mapOf } from './brand-settings.ts';

export const listBrands = (context: CommandContext, options: DeskOptions): Promise<CommandResult> =>
  atBrandDesk(context, options, async ({ brands }) =>
    replyResult(await brands.list(), {
      hasRightForm: (body) => isObject(body) && Array.isArray(body.brands),
      text: (body, style) =>
        body.brands.length === 0
          ? style.dim('no brand yet: rewards brand create')
          : body.brands.map((brand) => brandLine(brand, style)).join('\n'),
    }),
  );

export const showBrand = (
  context: CommandContext,
  options: DeskOptions & { brand?: string },
): Promise<CommandResult> =>
  atBrandDesk(context, options, async ({ brands, defaultBrand }) => {
    const name = options.brand ?? defaultBrand;
    if (name === undefined) {
      throw new CliError('E_USAGE', {
        message: 'Which brand is missing.',
        hint: '`rewards brand list` shows all; name one by its id or by one of its domains.',
      });
    }
    return replyResult(await brands.show(name), { hasRightForm: isBrandDetail, text: brandText });
  });

export interface CreateBrandOptions extends DeskOptions {
  brandId: string;
  brandName: string;
  domain: string[];
  platform?: string[];
  escrow?: string;
}

export const createBrand = (context: CommandContext, options: CreateBrandOptions): Promise<CommandResult> => {
  const { brandId, brandName, domain, platform, escrow } = options;
  const settings = {
    brandId,
    name: brandName,
    domains: domain,
    ...(platform && { platforms: mapOf(platform, '--platform telegram=@Bot') }),
    ...(escrow !== undefined && { escrow }),
  };
  return atBrandDesk(context, options, async ({ brands }) =>
    replyResult(await brands.create(settings), {
      hasRightForm: isBrandDetail,
      text: (brand, style) => [brandText(brand, style), ...newKeyLines(brand, style)].join('\n'),
    }),
  );
};

export const rotateKey = (
  context: CommandContext,
  options: DeskOptions & { brand: string; overlap: string },
): Promise<CommandResult> =>
  atBrandDesk(context, options, async ({ brands }) =>
    replyResult(await brands.rotateKey(options.brand, options.overlap), {
      hasRightForm: (body) => isObject(body) && typeof body.apiKey === 'string',
      text: (key, style) => newKeyLines(key, style).join('\n'),
    }),
  );

export const dnsRecord = (
  context: CommandContext,
  options: DeskOptions & { brand: string; domain: string },
): Promise<CommandResult> =>
  atBrandDesk(context, options, async ({ brands }) =>
    replyResult(await brands.dnsRecord(options.brand, options.domain), {
      hasRightForm: (body) => isObject(body) && typeof body.value === 'string',
      // As it stands in a zone file: ready to be pasted.
      text: ({ name, value }) => `${name}. IN TXT "${value}"`,
    }),
  );

const isBrandDetail = (body: unknown): body is BrandDetail =>
  isObject(body) && typeof body.brandId === 'string' && Array.isArray(body.rules);
