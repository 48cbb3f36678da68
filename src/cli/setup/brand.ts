/** `rewards brand`: its settings, rules, aliases, keys and money. */

import { aliasUser, listAliases, removeAlias, type ShownAlias } from '../../contract/control/aliases.ts';
import * as brands from '../../contract/control/brands.ts';
import { type BoardHistory, showBoardHistory } from '../../contract/control/history.ts';
import * as mints from '../../contract/control/mints.ts';
import { addWebhookEndpoint } from '../../contract/control/webhooks.ts';
import { brandSpec, ruleSpec } from '../../rules/brands/spec.ts';
import type { Handler } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';
import { intoSecretFile } from '../machine/secret-file.ts';
import { asks, type ControlOptions, type Emulator, withControl } from '../service/control.ts';
import { replyResult } from '../service/control-reply.ts';
import { endpointText, secretLines } from '../talk/webhooks/endpoints.ts';
import type { Style } from '../terminal/style.ts';
import { mapOf, settingsFrom } from './brand-flags.ts';
import {
  boardsText,
  brandLine,
  brandText,
  fundingText,
  newKeyLines,
  ruleText,
  spendDefaultLines,
} from './brand-view.ts';

export const listBrands = asks(brands.listBrands, {
  text: (body, style) =>
    body.brands.length === 0
      ? style.dim('no brand yet: rewards brand create')
      : body.brands.map((brand) => brandLine(brand, style)).join('\n'),
});

export const showBrand: Handler<ControlOptions & { brand?: string }> = (context, options) =>
  withControl(context, options, async ({ call, emulator }) => {
    const name = nameIn(options, emulator);
    return replyResult(await call(brands.showBrand, { path: { name } }), { text: brandText });
  });

interface BoardsWish extends ControlOptions {
  brand?: string;
  period: BoardHistory['period'];
  metric: BoardHistory['metric'];
  users: number;
}

export const showBoards: Handler<BoardsWish> = (context, options) =>
  withControl(context, options, async ({ call, emulator }) => {
    const { period, metric, users } = options;
    const path = { name: nameIn(options, emulator) };
    const reply = await call(showBoardHistory, { path, query: { period, metric, users } });
    return replyResult(reply, { text: boardsText });
  });

/** The brand that is named, or the first one of the emulator. */
function nameIn(options: { brand?: string }, emulator: Emulator | undefined): string {
  const name = options.brand ?? emulator?.run?.brands[0]?.brandId;
  if (name !== undefined) return name;
  throw usageError(
    'The brand is missing.',
    '`rewards brand list` shows all; name one by its id or by one of its domains.',
  );
}

/** Options, including the flags of the settings. */
interface CreateBrandOptions {
  brandId: string;
  escrow?: string;
  [flag: string]: unknown;
}

export const createBrand = intoSecretFile(
  asks(brands.createBrand, {
    request: ({ brandId, escrow, ...flags }: CreateBrandOptions) => ({
      body: { brandId, escrow, ...settingsFrom(brandSpec, flags) },
    }),
    text: (brand, style, options) =>
      [
        brandText(brand, style),
        ...spendDefaultLines(brand, settingsFrom(brandSpec, options), style),
        ...newKeyLines(brand, style),
      ].join('\n'),
    // The names under which this program itself reads them; the shell has others' beside them.
    env: ({ brandId: rewardsBrandId, apiKey: rewardsApiKey }) => ({ rewardsBrandId, rewardsApiKey }),
  }),
);

export const rotateKey = intoSecretFile(
  asks(brands.rotateKey, {
    request: ({ brand, overlap }: { brand: string; overlap: string }) => ({
      path: { name: brand },
      body: { overlap },
    }),
    text: (key, style) => newKeyLines(key, style).join('\n'),
    env: ({ apiKey: rewardsApiKey }) => ({ rewardsApiKey }),
  }),
);

interface FundOptions {
  brand: string;
  amount: string;
  reason?: string;
  transaction?: string;
}

export const fundBrand = intoSecretFile(
  asks(mints.fundBrand, {
    request: ({ brand, amount, reason, transaction }: FundOptions) => ({
      path: { name: brand },
      body: { amount, reason, transaction },
    }),
    text: fundingText,
    env: (funding) => ({ rewards: funding }),
  }),
);

export const dnsRecord = asks(brands.brandDns, {
  request: ({ brand, domain }: { brand: string; domain: string }) => ({
    path: { name: brand },
    query: { domain },
  }),
  // In the form of a zone file, ready to be pasted.
  text: ({ name, value }) => `${name}. IN TXT "${value}"`,
});

interface SetBrandOptions extends ControlOptions {
  brand: string;
  // commander's own wording for a missing argument.
  'setting=value': string[];
  webhookUrl?: string;
}

export const setBrand: Handler<SetBrandOptions> = async (context, options) => {
  const given = options['setting=value'];
  if (options.webhookUrl !== undefined) {
    if (given.length > 0)
      throw usageError('--webhook-url and settings are two commands.', 'Leave one of them out.');
    return setWebhookUrl(context, { ...options, url: options.webhookUrl });
  }
  if (given.length === 0)
    throw usageError(
      'There is nothing to set.',
      'Name settings, as in automation=off, or --webhook-url <url>.',
    );
  return setSettings(context, options);
};

const setSettings = asks(brands.setBrand, {
  request: ({ brand, 'setting=value': given }: SetBrandOptions) => ({
    path: { name: brand },
    body: mapOf(given, 'automation=off'),
  }),
  text: brandText,
});

/** Where the brand has a default endpoint, that one changes; else it gets one, with a secret that is printed once. */
const setWebhookUrl = asks(addWebhookEndpoint, {
  request: ({ brand, url }: { brand: string; url: string }) => ({ body: { brand, url, isDefault: true } }),
  text: (endpoint, style) => [endpointText(endpoint, style), ...secretLines(endpoint, style)].join('\n'),
});

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
