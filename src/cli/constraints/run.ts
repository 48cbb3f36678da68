/** `rewards constraints list|check|invalidate|chat`. */
import type { CommandContext, Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import { isObject } from '../service/assignments.ts';
import { replyResult } from '../service/control-reply.ts';
import { demandBrand } from '../service/named-brand.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import type { LedgerOptions } from '../start/options.ts';
import { withConstraints } from './target.ts';
import { perksText, standingLine, verdictText } from './view.ts';

interface OfBrand {
  brand?: string;
}

async function asking(context: CommandContext, { brand }: OfBrand) {
  const target = await resolveTarget(context);
  const { brandId } = await demandBrand(context, target, brand);
  return { brand: brandId, control: clientFor(target, context).control.constraints };
}

const hasList = (name: string) => (body: unknown) => isObject(body) && Array.isArray(body[name]);

export const listConstraints: Handler<OfBrand & LedgerOptions> = (context, options) =>
  withConstraints(context, options, async ({ brand, constraints }) =>
    replyResult(await constraints.list(brand), {
      hasRightForm: hasList('perks'),
      text: ({ perks }, style) => perksText(perks, style),
    }),
  );

export const checkConstraints: Handler<OfBrand & { perk: string; user: string }> = async (
  context,
  options,
) => {
  const { brand, control } = await asking(context, options);
  const { perk, user } = options;
  const reply = await control.check({ brand, perk, user });
  const result = replyResult(reply, { hasRightForm: hasList('missing'), text: verdictText });
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

export const invalidateResults: Handler<
  OfBrand & LedgerOptions & { url: string; user?: string; tokenId?: number }
> = (context, { url, user, tokenId, ...options }) =>
  withConstraints(context, options, async ({ brand, constraints }) =>
    replyResult(await constraints.invalidate({ brand, url, user, tokenId }), {
      hasRightForm: (body) => isObject(body) && typeof body.invalidated === 'number',
      text: ({ invalidated }) => `${invalidated} ${invalidated === 1 ? 'result' : 'results'} forgotten`,
    }),
  );

export const chatStandings: Handler<
  OfBrand & { user?: string; platform: string; level?: number; role?: string[]; roles: boolean }
> = async (context, options) => {
  const { user, platform, level, role } = options;
  const { brand, control } = await asking(context, options);
  const roles = options.roles ? role : [];
  if (user === undefined) {
    if (level !== undefined || roles !== undefined)
      throw usageError(
        '--level and --role need a user.',
        'Name the user: rewards constraints chat <user> --level 5',
      );
    return replyResult(await control.standings(brand), {
      hasRightForm: hasList('standings'),
      text: ({ standings }, style) =>
        standings.map((one) => standingLine(one, style)).join('\n') || 'nobody has a level or role yet',
    });
  }
  const reply = await control.setStanding({ brand, user, platform, level, roles });
  return replyResult(reply, { hasRightForm: hasList('roles'), text: standingLine });
};
