/** Other names of a brand's users, as the control API has them. */
import { z } from 'zod';
import { named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { brandPath } from './brands.ts';
import { type AnswerOf, endpoint } from './control-endpoint.ts';
import { instant } from './fields.ts';

const WHO = 'must be an e-mail, or the stand-in e-mail of a platform';

const aliasRequest = z.object({
  alias: z.string({ error: WHO }).meta({
    description:
      'The name under which the brand knows the user: an e-mail, or the stand-in e-mail of a platform.',
  }),
  user: z.string({ error: WHO }).meta({ description: "The user's e-mail." }),
});

const shownAlias = z.object({
  alias: z.string(),
  user: z.string(),
  since: instant(),
  aliasWallet: z
    .string()
    .nullable()
    .meta({ description: 'Its wallet from before; what lies there stays there. Null where there is none.' }),
  userWallet: z
    .string()
    .nullable()
    .meta({ description: 'The wallet for all that comes; null until the first reward.' }),
});

const aliasList = z.object({
  aliases: z.array(shownAlias),
  more: z.boolean().meta({ description: 'Whether there are more: ask with `after`, the last alias.' }),
});

const aliasesQuery = z.object({ after: z.string().optional() });

const aliasRemoved = z.object({ removed: z.string() });

export const listAliases = endpoint('GET /brands/{name}/aliases', {
  id: 'listAliases',
  onLedger: true,
  tag: 'Brands',
  summary: "Other names of a brand's users",
  path: brandPath,
  query: aliasesQuery,
  example: { path: { name: demo.domain } },
  answer: { description: 'Each alias with its user.', body: named('AliasList', aliasList) },
  refusals: ['brand_not_found'],
});

export const aliasUser = endpoint('POST /brands/{name}/aliases', {
  id: 'aliasUser',
  onLedger: true,
  tag: 'Brands',
  summary: 'Make a name an alias of a user',
  description:
    'From then on both are one user of this brand, with one wallet, and what either has been paid counts for both. What lies in the wallet of the alias stays there.',
  status: 201,
  path: brandPath,
  body: named('AliasWish', aliasRequest),
  example: {
    path: { name: demo.domain },
    body: { alias: 'wordpress_2@rewards.example', user: demo.user },
  },
  answer: { description: 'The alias.', body: named('Alias', shownAlias) },
  refusals: ['invalid_body', 'invalid_settings', 'brand_not_found'],
});

export const removeAlias = endpoint('DELETE /brands/{name}/aliases/{alias}', {
  id: 'removeAlias',
  onLedger: true,
  tag: 'Brands',
  summary: 'Make an alias a user of its own again',
  path: brandPath.extend({ alias: z.string() }),
  example: { path: { name: demo.domain, alias: 'wordpress_2@rewards.example' } },
  answer: { description: 'The alias that is gone.', body: named('AliasRemoved', aliasRemoved) },
  refusals: ['invalid_settings', 'brand_not_found'],
});

export type ShownAlias = AnswerOf<typeof aliasUser>;
