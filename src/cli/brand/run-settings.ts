/** `rewards brand set|rule`: reads settings from the command line; the service checks them. */

import { ruleSpec } from '../../rules/brands/spec.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';
import type { CommandResult } from '../machine/output.ts';
import { isObject } from '../service/assignments.ts';
import { replyResult } from '../service/control-reply.ts';
import { withWebhooks } from '../webhooks/outbound/target.ts';
import { endpointText, secretLines } from '../webhooks/outbound/view.ts';
import { mapOf, settingsFrom } from './setting-flags.ts';
import { type BrandOptions, withBrands } from './target.ts';
import { brandText, ruleText } from './view.ts';

export const setBrand = (
  context: CommandContext,
  // commander's own wording for a missing argument.
  options: BrandOptions & { brand: string; 'setting=value': string[]; webhookUrl?: string },
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
  return withBrands(context, options, async ({ brands }) =>
    replyResult(await brands.set(options.brand, settings), {
      hasRightForm: (body) => isObject(body) && Array.isArray(body.rules),
      text: brandText,
    }),
  );
};

/** Where the brand has a default endpoint, that one changes; else it gets one, with a secret that is printed once. */
const setWebhookUrl = (
  context: CommandContext,
  options: BrandOptions,
  wish: { brand: string; url: string },
): Promise<CommandResult> =>
  withWebhooks(context, options, async ({ endpoints }) =>
    replyResult(await endpoints.add({ ...wish, isDefault: true }), {
      hasRightForm: (body) => isObject(body) && typeof body.url === 'string',
      text: (endpoint, style) => [endpointText(endpoint, style), ...secretLines(endpoint, style)].join('\n'),
    }),
  );

/** Options, including the flags of the settings. */
interface BrandRuleOptions extends BrandOptions {
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
  const isRule = (body: unknown) => isObject(body) && typeof body.reward === 'number';
  return withBrands(context, options, async ({ brands }) => {
    if (options.remove) {
      return replyResult(await brands.removeRule(brand, eventType), {
        hasRightForm: (body) => isObject(body) && typeof body.removed === 'string',
        text: ({ removed }, style) => `${removed} ${style.dim('removed')}`,
      });
    }
    if (changes) {
      const reply = await brands.setRule(brand, eventType, settings);
      return replyResult(reply, { hasRightForm: isRule, text: ruleText });
    }
    const shown = await brands.show(brand);
    const rule = Array.isArray(shown.body?.rules)
      ? shown.body.rules.find((one) => one.eventType === eventType)
      : undefined;
    if (shown.status !== 200 || rule) {
      const reply = rule ? { ...shown, body: rule } : { ...shown, body: shown.body as never };
      return replyResult(reply, { hasRightForm: isRule, text: ruleText });
    }
    throw new CliError('E_REFUSED', {
      message: `${brand} has no rule for ${eventType}.`,
      fix: 'Add one with --reward <rwt>.',
      details: { reason: 'rule_not_found', eventType },
    });
  });
};
