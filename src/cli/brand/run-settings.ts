/** `rewards brand set|rule`: what is said on the command line, as settings; the service judges them. */

import type { CommandContext } from '../machine/context.ts';
import { CliError } from '../machine/errors.ts';
import type { CommandResult } from '../machine/output.ts';
import { isObject } from '../service/assignments.ts';
import { replyResult } from '../service/control-reply.ts';
import { atBrandDesk, type DeskOptions } from './target.ts';
import { brandText, ruleText } from './view.ts';

export const setBrand = (
  context: CommandContext,
  // commander names an argument as it is declared.
  options: DeskOptions & { brand: string; 'setting=value': string[] },
): Promise<CommandResult> => {
  const settings = mapOf(options['setting=value'], 'automation=off');
  return atBrandDesk(context, options, async ({ brands }) =>
    replyResult(await brands.set(options.brand, settings), {
      hasRightForm: (body) => isObject(body) && Array.isArray(body.rules),
      text: brandText,
    }),
  );
};

export interface BrandRuleOptions extends DeskOptions {
  brand: string;
  eventType: string;
  reward?: string;
  maxClaims?: string;
  maxTotal?: string;
  cooldown?: string;
  active?: string;
  channel?: string[];
  perUsd?: string;
  maxReward?: string;
  multiplier?: string;
  urlPattern?: string[];
  successSelector?: string[];
  method?: string;
  remove?: boolean;
}

export const brandRule = (context: CommandContext, options: BrandRuleOptions): Promise<CommandResult> => {
  const { brand, eventType } = options;
  const settings = ruleSettings(options);
  const changes = Object.keys(settings).length > 0;
  if (options.remove && changes) {
    throw new CliError('E_USAGE', {
      message: '--remove and settings exclude each other.',
      hint: 'Leave one of them out.',
    });
  }
  const isRule = (body: unknown) => isObject(body) && typeof body.reward === 'number';
  return atBrandDesk(context, options, async ({ brands }) => {
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
      hint: 'Add one with --reward <rwt>.',
      details: { reason: 'rule_not_found', eventType },
    });
  });
};

/** The flags that were given, under the names of the settings. `none` clears a list. */
function ruleSettings(options: BrandRuleOptions): Record<string, unknown> {
  const list = (given: string[] | undefined) => (given?.length === 1 && given[0] === 'none' ? [] : given);
  const settings = {
    reward: options.reward,
    maxClaims: options.maxClaims,
    maxTotalClaims: options.maxTotal,
    cooldown: options.cooldown,
    active: options.active,
    channels: list(options.channel),
    perUsd: options.perUsd,
    maxReward: options.maxReward,
    multiplier: options.multiplier,
    urlPatterns: list(options.urlPattern),
    successSelectors: list(options.successSelector),
    method: options.method,
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

/** `name=value` texts as a map; E_USAGE for a text without an equals sign. */
export function mapOf(pairs: readonly string[], example: string): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair): [string, string] => {
      const equals = pair.indexOf('=');
      if (equals > 0) return [pair.slice(0, equals), pair.slice(equals + 1)];
      throw new CliError('E_USAGE', { message: `${pair} has no value.`, hint: `Write it as ${example}.` });
    }),
  );
}
