/** Other names of a brand's users over the control API. */
import type { Context, Handler } from 'hono';
import { aliasUser, removeAlias, type ShownAlias, showAliases } from '../../actions/brands/alias-users.ts';
import type { ManageBrandsDeps } from '../../actions/brands/named-brand.ts';
import { checksummed } from '../../identity/checksum.ts';
import { readSettings, refuse } from './refuse.ts';

export function aliasHandlers(deps: ManageBrandsDeps): Record<string, Handler> {
  return {
    async listAliases(context) {
      const found = await showAliases(deps, nameOf(context), context.req.query('after'));
      if ('refusal' in found) return refuse(context, found.refusal);
      return context.json({ aliases: found.aliases.map(aliasReply), more: found.more });
    },
    async aliasUser(context) {
      const wish = await readSettings(context);
      if (!wish) return refuse(context, { code: 'invalid_body' });
      const made = await aliasUser(deps, nameOf(context), { alias: wish.alias, user: wish.user });
      return 'refusal' in made ? refuse(context, made.refusal) : context.json(aliasReply(made), 201);
    },
    async removeAlias(context) {
      const alias = context.req.param('alias') ?? '';
      const gone = await removeAlias(deps, { name: nameOf(context), alias });
      return 'refusal' in gone ? refuse(context, gone.refusal) : context.json(gone);
    },
  };
}

const nameOf = (context: Context) => context.req.param('name') ?? '';
const spelled = (address: `0x${string}` | null) => (address === null ? null : checksummed(address));

const aliasReply = ({ aliasKey, userKey, createdAt, aliasWallet, userWallet }: ShownAlias) => ({
  alias: aliasKey,
  user: userKey,
  since: new Date(createdAt).toISOString(),
  aliasWallet: spelled(aliasWallet),
  userWallet: spelled(userWallet),
});
