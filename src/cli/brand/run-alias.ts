/** `rewards brand alias`: other names of a brand's users. */
import { aliasUser, listAliases, removeAlias, type ShownAlias } from '../../contract/control/aliases.ts';
import type { Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import { type ControlOptions, withControl } from '../service/control.ts';
import { replyResult } from '../service/control-reply.ts';
import type { Style } from '../terminal/style.ts';

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
