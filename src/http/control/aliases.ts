/** Other names of a brand's users over the control API. */
import * as aliases from '../../actions/brands/alias-users.ts';
import type { ManageBrandsDeps } from '../../actions/brands/named-brand.ts';
import { aliasUser, listAliases, removeAlias, type ShownAlias } from '../../contract/control/aliases.ts';
import { checksummed } from '../../identity/checksum.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';

export const controlAliases = (deps: ManageBrandsDeps): ControlRoute[] => [
  controlHandler(listAliases, async ({ path, query }) => {
    const found = await aliases.showAliases(deps, path.name, query.after);
    return 'refusal' in found ? found : { aliases: found.aliases.map(aliasReply), more: found.more };
  }),
  controlHandler(aliasUser, async ({ path, body }) => {
    const made = await aliases.aliasUser(deps, path.name, body);
    return 'refusal' in made ? made : aliasReply(made);
  }),
  controlHandler(removeAlias, ({ path }) => aliases.removeAlias(deps, path)),
];

const spelled = (address: `0x${string}` | null) => (address === null ? null : checksummed(address));

const aliasReply = ({
  aliasKey,
  userKey,
  createdAt,
  aliasWallet,
  userWallet,
}: aliases.ShownAlias): ShownAlias => ({
  alias: aliasKey,
  user: userKey,
  since: new Date(createdAt).toISOString(),
  aliasWallet: spelled(aliasWallet),
  userWallet: spelled(userWallet),
});
