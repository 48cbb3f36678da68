/** `rewards brand list|show|create|rotate-key|dns`. */

import { aliasUser, listAliases, removeAlias, type ShownAlias } from '../../contract/control/aliases.ts';
import * as brands from '../../contract/control/brands.ts';
import * as mints from '../../contract/control/mints.ts';
import { addWebhookEndpoint } from '../../contract/control/webhooks.ts';
import { brandSpec, ruleSpec } from '../../rules/brands/spec.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';
import type { CommandResult } from '../machine/output.ts';
import { intoSecretFile } from '../machine/secret-file.ts';
import { type ControlOptions, withControl } from '../service/control.ts';
import { replyResult } from '../service/control-reply.ts';
import { endpointText, secretLines } from '../talk/webhooks/endpoints.ts';
import type { Style } from '../terminal/style.ts';
import { mapOf, settingsFrom } from './brand-flags.ts';
import { brandLine, brandText, fundingText, newKeyLines, ruleText, spendDefaultLines } from './brand-view.ts';

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

export const setBrand = (
  context: CommandContext,
  // commander's own wording for a missing argument.
  options: ControlOptions & { brand: string; 'setting=value': string[]; webhookUrl?: string },
): Promise<CommandResult> => {
  const given = options['setting=value'];
  const { brand, webhookUrl: url } = options;
  if (url !== undefined) {
    if (given.length > 0)
      throw usageError('--webhook-url and settings are two commands.', 'Leave one of them out.');
    return setWebhookUrl(context, options, { brand, url });
  }
  if (given.length === 0)
    throw usageError(
      'There is nothing to set.',
      'Name settings, as in automation=off, or --webhook-url <url>.',
    );
  const settings = mapOf(given, 'automation=off');
  return withControl(context, options, async ({ call }) =>
    replyResult(await call(brands.setBrand, { path: { name: options.brand }, body: settings }), {
      text: brandText,
    }),
  );
};

/** Where the brand has a default endpoint, that one changes; else it gets one, with a secret that is printed once. */
const setWebhookUrl = (
  context: CommandContext,
  options: ControlOptions,
  wish: { brand: string; url: string },
): Promise<CommandResult> =>
  withControl(context, options, async ({ call }) =>
    replyResult(await call(addWebhookEndpoint, { body: { ...wish, isDefault: true } }), {
      text: (endpoint, style) => [endpointText(endpoint, style), ...secretLines(endpoint, style)].join('\n'),
    }),
  );

/** Options, including the flags of the settings. */
interface BrandRuleOptions extends ControlOptions {
  brand: string;
  eventType: string;
  remove?: boolean;
}

export const brandRule: Handler<BrandRuleOptions> = (context, options) => {
  const { brand, eventType } = options;
  const settings = settingsFrom(ruleSpec, options);
  const changes = Object.keys(settings).length > 0;
  if (options.remove && changes) {
    throw usageError('--remove and settings exclude each other.', 'Leave one of them out.');
  }
  return withControl(context, options, async ({ call }) => {
    if (options.remove) {
      return replyResult(await call(brands.removeRule, { path: { name: brand, eventType } }), {
        text: ({ removed }, style) => `${removed} ${style.dim('removed')}`,
      });
    }
    if (changes) {
      const reply = await call(brands.setRule, {
        path: { name: brand, eventType },
        body: settings,
      });
      return replyResult(reply, { text: ruleText });
    }
    const shown = await call(brands.showBrand, { path: { name: brand } });
    const rule = Array.isArray(shown.body?.rules)
      ? shown.body.rules.find((one) => one.eventType === eventType)
      : undefined;
    if (shown.status !== 200 || rule) {
      const reply = rule ? { ...shown, body: rule } : { ...shown, body: shown.body as never };
      return replyResult(reply, { text: ruleText });
    }
    throw new CliError('E_REFUSED', {
      message: `${brand} has no rule for ${eventType}.`,
      fix: 'Add one with --reward <rwt>.',
      details: { reason: 'rule_not_found', eventType },
    });
  });
};

interface AliasOptions extends ControlOptions {
  brand: string;
  alias?: string;
  user?: string;
  remove?: boolean;
}

export const brandAlias: Handler<AliasOptions> = (context, options) => {
  const { brand, alias, user, remove } = options;
  if (remove && (alias === undefined || user !== undefined))
    throw usageError(
      '--remove takes an alias and no user.',
      'Write: rewards brand alias <brand> <alias> --remove',
    );
  if (!remove && alias !== undefined && user === undefined)
    throw usageError('The user is missing.', 'Write: rewards brand alias <brand> <alias> <user>');
  return withControl(context, options, async ({ call }) => {
    if (alias === undefined) {
      return replyResult(await call(listAliases, { path: { name: brand } }), {
        text: ({ aliases, more }, style) =>
          aliases.length === 0
            ? style.dim('no aliases: rewards brand alias <brand> <alias> <user>')
            : [...aliases.map((one) => aliasLine(one, style)), ...(more ? [style.dim('…')] : [])].join('\n'),
      });
    }
    if (user === undefined) {
      return replyResult(await call(removeAlias, { path: { name: brand, alias } }), {
        text: ({ removed }, style) => `${removed} ${style.dim('is a user of its own again')}`,
      });
    }
    return replyResult(await call(aliasUser, { path: { name: brand }, body: { alias, user } }), {
      text: aliasLine,
    });
  });
};

/** `wordpress_2@rewards.example  is  ann@example.com  0x…  (before: 0x…)`. */
function aliasLine({ alias, user, userWallet, aliasWallet }: ShownAlias, style: Style): string {
  const before = aliasWallet === null ? [] : [style.dim(`its wallet from before: ${aliasWallet}`)];
  return [style.bold(alias), 'is', user, userWallet ?? style.dim('no wallet yet'), ...before].join('  ');
}
