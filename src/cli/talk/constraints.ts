/** `rewards constraints list|check|invalidate|chat`. */

import type {
  ChatMembership,
  ConstrainedPerks,
  ConstraintsVerdict,
} from '../../contract/control/constraints.ts';
import * as constraints from '../../contract/control/constraints.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import type { LedgerOptions } from '../machine/shared-options.ts';
import { asks } from '../service/control.ts';
import { replyResult } from '../service/control-reply.ts';
import { meansLedger } from '../service/ledger.ts';
import { demandBrand } from '../service/named-brand.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import type { Style } from '../terminal/style.ts';

interface OfBrand {
  brand?: string;
}

async function asking(context: CommandContext, { brand }: OfBrand) {
  const target = await resolveTarget(context);
  const { brandId } = await demandBrand(context, target, brand);
  return { brand: brandId, call: clientFor(target, context).call };
}

/** The brand's id, or its name on a ledger: none of a ledger's brands is the first. */
async function brandFor(context: CommandContext, { brand, ...options }: OfBrand & Partial<LedgerOptions>) {
  if (!meansLedger(context, { allowSqlite: false, ...options }))
    return (await demandBrand(context, await resolveTarget(context), brand)).brandId;
  if (brand === undefined)
    throw usageError('A ledger has no first brand.', 'Name the brand: --brand shop.example');
  return brand;
}

export const listConstraints = asks(constraints.listConstraints, {
  request: (options: OfBrand, context) => async () => ({
    query: { brand: await brandFor(context, options) },
  }),
  text: ({ perks }, style) => perksText(perks, style),
});

export const checkConstraints: Handler<OfBrand & { perk: string; user: string }> = async (
  context,
  options,
) => {
  const { brand, call } = await asking(context, options);
  const { perk, user } = options;
  const reply = await call(constraints.checkConstraints, { body: { brand, perk, user } });
  const result = replyResult(reply, { text: verdictText });
  if (!result.ok || reply.body.eligible) return result;
  const message = reply.body.missing.map((one) => one.message).join('; ');
  return {
    ok: false,
    data: result.data,
    error: {
      code: 'E_REFUSED',
      message: `${reply.body.user} may not have ${reply.body.name}: ${message}`,
      fix: '`rewards constraints list` shows what the perk asks; `rewards constraints chat` sets levels and roles.',
      retryable: false,
      details: { missing: reply.body.missing },
    },
  };
};

export const invalidateResults = asks(constraints.invalidateConstraints, {
  request:
    (
      { url, user, tokenId, ...options }: OfBrand & { url: string; user?: string; tokenId?: number },
      context,
    ) =>
    async () => ({ body: { brand: await brandFor(context, options), url, user, tokenId } }),
  text: ({ invalidated }) => `${invalidated} ${invalidated === 1 ? 'result' : 'results'} forgotten`,
});

export const chatStandings: Handler<
  OfBrand & { user?: string; platform: string; level?: number; role?: string[]; roles: boolean }
> = async (context, options) => {
  const { user, platform, level, role } = options;
  const { brand, call } = await asking(context, options);
  const roles = options.roles ? role : [];
  if (user === undefined) {
    if (level !== undefined || roles !== undefined)
      throw usageError(
        '--level and --role need a user.',
        'Name the user: rewards constraints chat <user> --level 5',
      );
    return replyResult(await call(constraints.listChatStandings, { query: { brand } }), {
      text: ({ standings }, style) =>
        standings.map((one) => standingLine(one, style)).join('\n') || 'nobody has a level or role yet',
    });
  }
  const reply = await call(constraints.setChatStanding, { body: { brand, user, platform, level, roles } });
  return replyResult(reply, { text: standingLine });
};

function perksText(perks: ConstrainedPerks['perks'], style: Style): string {
  if (perks.length === 0) return 'no perk of this brand has constraints';
  return perks
    .map(({ perkId, name, constraints }) =>
      [
        `${style.bold(name)}  ${style.dim(perkId)}`,
        ...constraints.map((one) => `  ${JSON.stringify(one)}`),
      ].join('\n'),
    )
    .join('\n');
}

const verdictText = ({ user, name }: ConstraintsVerdict, style: Style): string =>
  `${style.green('yes')}  ${user} meets all constraints of ${style.bold(name)}`;

const standingLine = ({ user, platform, level, roles }: ChatMembership, style: Style): string =>
  `${style.bold(user)}  ${platform}  level ${level}  ${roles.join(', ') || style.dim('no roles')}`;
