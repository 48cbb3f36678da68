/** `rewards brand set|rule`: reads settings from the command line; the service checks them. */

import { ruleSpec } from '../../rules/brands/spec.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';
import type { CommandResult } from '../machine/output.ts';
import { isObject } from '../service/assignments.ts';
import { replyResult } from '../service/control-reply.ts';
import { mapOf, settingsFrom } from './setting-flags.ts';
import { type BrandOptions, withBrands } from './target.ts';
import { brandText, ruleText } from './view.ts';

export const setBrand = (
  context: CommandContext,
  // commander's own wording for a missing argument.
  options: BrandOptions & { brand: string; 'setting=value': string[] },
): Promise<CommandResult> => {
  const settings = mapOf(options['setting=value'], 'automation=off');
  return withBrands(context, options, async ({ brands }) =>
    replyResult(await brands.set(options.brand, settings), {
      hasRightForm: (body) => isObject(body) && Array.isArray(body.rules),
      text: brandText,
    }),
  );
};

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
