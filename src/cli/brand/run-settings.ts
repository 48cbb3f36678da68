/** `rewards brand set|rule`: reads settings from the command line; the service checks them. */

import * as brands from '../../contract/control/brands.ts';
import { addWebhookEndpoint } from '../../contract/control/webhooks.ts';
import { ruleSpec } from '../../rules/brands/spec.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';
import type { CommandResult } from '../machine/output.ts';
import { type ControlOptions, withControl } from '../service/control.ts';
import { replyResult } from '../service/control-reply.ts';
import { mapOf, settingsFrom } from '../setup/brand-flags.ts';
import { brandText, ruleText } from '../setup/brand-view.ts';
import { endpointText, secretLines } from '../webhooks/outbound/view.ts';

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
