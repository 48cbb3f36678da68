/** `rewards perks list|add|set`. */

import type { RequestOf } from '../../contract/control/control-endpoint.ts';
import * as perks from '../../contract/control/perks.ts';
import type { Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import type { LedgerOptions } from '../machine/setting-options.ts';
import { perkLine } from '../perks/view.ts';
import { withControl } from '../service/control.ts';
import { replyResult } from '../service/control-reply.ts';

export const listPerks: Handler<LedgerOptions & { brand?: string }> = (context, { brand, ...options }) =>
  withControl(context, options, async ({ call }) =>
    replyResult(await call(perks.showPerks, { query: { brand } }), {
      text: ({ perks: all }, style) =>
        all.length === 0
          ? style.dim('no perk yet: rewards perks add')
          : all.map((one) => perkLine(one, style)).join('\n'),
    }),
  );

interface AddOptions extends LedgerOptions {
  brand: string;
  perkName: string;
  category: string;
  cost: string;
  stock: string;
  description?: string;
  image?: string;
  metadata?: string;
  constraint?: string[];
  tokenId?: string;
}

export const addPerk: Handler<AddOptions> = (context, options) => {
  const {
    brand,
    perkName,
    category,
    cost,
    stock,
    description,
    image,
    metadata,
    constraint,
    tokenId,
    ...where
  } = options;
  const wish = {
    brand,
    name: perkName,
    category,
    cost: numberOr(cost),
    stock: numberOr(stock),
    ...(description !== undefined && { description }),
    ...(image !== undefined && { image }),
    ...(metadata !== undefined && { metadata: json(metadata, '--metadata') }),
    ...(constraint !== undefined && { constraints: constraint.map((one) => json(one, '--constraint')) }),
    ...(tokenId !== undefined && { tokenId: numberOr(tokenId) }),
  };
  return withControl(context, where, async ({ call }) =>
    replyResult(await call(perks.addPerk, { body: wish as RequestOf<typeof perks.addPerk>['body'] }), {
      text: perkLine,
    }),
  );
};

export const setPerk: Handler<LedgerOptions & { perk: string; 'setting=value': string[] }> = (
  context,
  { perk, 'setting=value': given, ...options },
) => {
  const settings = Object.fromEntries(given.map(settingOf));
  return withControl(context, options, async ({ call }) =>
    replyResult(await call(perks.setPerk, { path: { name: perk }, body: settings }), { text: perkLine }),
  );
};

/** Settings that are not texts; the service says what is wrong with them. */
const READ: Record<string, (text: string, setting: string) => unknown> = {
  cost: numberOr,
  stock: numberOr,
  restock: numberOr,
  active: (text) =>
    /^(?:on|off)$/.test(text) ? text === 'on' : text === 'true' || (text === 'false' ? false : text),
  metadata: json,
  constraints: json,
  image: (text) => (text === '' || text === 'none' ? null : text),
};

function settingOf(pair: string): [string, unknown] {
  const equals = pair.indexOf('=');
  if (equals < 1) throw usageError(`${pair} has no value.`, 'Write it as cost=500.');
  const [setting, text] = [pair.slice(0, equals), pair.slice(equals + 1)];
  const read = Object.hasOwn(READ, setting) ? READ[setting] : undefined;
  return [setting, read ? read(text, setting) : text];
}

function numberOr(text: string): number | string {
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}

function json(text: string, setting: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw usageError(`${setting} is not JSON.`, `Quote it for the shell, as in ${setting} '{"size":"M"}'.`);
  }
}
