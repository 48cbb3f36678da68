/** `rewards perks list|add|set|check-code|use-code`. */

import type { CodeBody, RedeemedPerkBody } from '../../client/bodies.ts';
import type { RequestOf } from '../../contract/control/control-endpoint.ts';
import type { ManagedPerk } from '../../contract/control/perks.ts';
import * as perks from '../../contract/control/perks.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';
import { keyHeader } from '../machine/read-input.ts';
import type { LedgerOptions } from '../machine/shared-options.ts';
import { asks } from '../service/control.ts';
import { meansLedger } from '../service/ledger.ts';
import { demandBrand } from '../service/named-brand.ts';
import { noteRequest, serviceResult } from '../service/service-reply.ts';
import { clientFor, resolveTarget, type Target } from '../service/target.ts';
import type { Style } from '../terminal/style.ts';

export const listPerks = asks(perks.showPerks, {
  request: ({ brand }: { brand?: string }) => ({ query: { brand } }),
  text: ({ perks: all }, style) =>
    all.length === 0
      ? style.dim('no perk yet: rewards perks add')
      : all.map((one) => perkLine(one, style)).join('\n'),
});

interface AddOptions {
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

export const addPerk = asks(perks.addPerk, {
  request: (options: AddOptions) => {
    const { brand, perkName, category, cost, stock, description, image, metadata, constraint, tokenId } =
      options;
    const body = {
      brand,
      name: perkName,
      category,
      cost: numberOr(cost),
      stock: numberOr(stock),
      description,
      image,
      metadata: metadata === undefined ? undefined : json(metadata, '--metadata'),
      constraints: constraint?.map((one) => json(one, '--constraint')),
      tokenId: tokenId === undefined ? undefined : numberOr(tokenId),
    };
    return { body: body as RequestOf<typeof perks.addPerk>['body'] };
  },
  text: perkLine,
});

export const setPerk = asks(perks.setPerk, {
  request: ({ perk, 'setting=value': given }: { perk: string; 'setting=value': string[] }) => ({
    path: { name: perk },
    body: Object.fromEntries(given.map(settingOf)),
  }),
  text: perkLine,
});

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

interface CodeOptions extends LedgerOptions {
  code: string;
  brand?: string;
  apiKeyFile?: string;
}

export const checkCode: Handler<CodeOptions> = (context, options) => ask(context, options, 'check-code');
export const useCode: Handler<CodeOptions> = (context, options) => ask(context, options, 'use-code');

async function ask(context: CommandContext, options: CodeOptions, verb: 'check-code' | 'use-code') {
  const target = await serviceTarget(context, options);
  const { brandId } = await demandBrand(context, target, options.brand, options);
  const headers = await keyHeader(context.runtime, options.apiKeyFile);
  const reply = await clientFor(target, context).request<CodeBody>({
    host: 'services',
    path: `/perks/${verb}`,
    method: 'POST',
    body: { brandId, code: options.code },
    headers,
  });
  noteRequest(context, reply);
  return serviceResult(reply, { text: (style) => codeLine(reply.body, style) });
}

/** Throws E_NOT_RUNNING without a service, and says how to name one where only a ledger is given. */
export async function serviceTarget(context: CommandContext, options: LedgerOptions): Promise<Target> {
  try {
    return await resolveTarget(context);
  } catch (error) {
    const nothingRuns = error instanceof CliError && error.problem.code === 'E_NOT_RUNNING';
    if (!nothingRuns || !meansLedger(context, options)) throw error;
    throw new CliError('E_NOT_RUNNING', {
      message: 'The ledger is given, and this is asked of its service.',
      fix: 'Add the address of the service: --target https://rewards.example.',
    });
  }
}

/** `3  Enamel mug  600 RWT  physical  20 in all  on  493a88d1-…`. */
function perkLine(perk: ManagedPerk, style: Style): string {
  const { id, tokenId, name, cost, category, stock, active, constraints, terms, failure } = perk;
  return [
    `${tokenId}`,
    style.bold(name),
    `${cost} RWT`,
    category,
    stock === -1 ? 'unlimited' : `${stock} in all`,
    active ? style.green('on') : style.yellow('off'),
    ...(constraints.length > 0 ? [constraints.map(({ type }) => type).join(' and ')] : []),
    ...(terms === 'waiting' ? [style.yellow('the contract is not told yet')] : []),
    ...(terms === 'failed' ? [style.red(`the contract refuses it: ${failure}`)] : []),
    style.dim(id),
  ].join('  ');
}

/** `7KQ2-M9XT-4HVC  valid  Ten percent off  alice@demo.example  250 RWT`. */
function codeLine(body: CodeBody, style: Style): string {
  const { confirmationCode, state, perkName, perkId, user, cost, usedAt } = body;
  const shown = state === 'valid' ? style.green(state) : style.yellow(usedAt ? `used ${usedAt}` : state);
  return [confirmationCode, shown, style.bold(perkName ?? perkId), user, `${cost} RWT`].join('  ');
}

/** `7KQ2-M9XT-4HVC  Ten percent off  alice@demo.example  250 RWT  0x5f…`. */
export function redeemedLine(body: RedeemedPerkBody, user: string, style: Style): string {
  const { confirmationCode, perk, transactionHash } = body;
  return [style.bold(confirmationCode), perk.name, user, `${perk.cost} RWT`, style.dim(transactionHash)].join(
    '  ',
  );
}
