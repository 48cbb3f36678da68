/** Tokens and wallets of users, as the control API has them. */
import { z } from 'zod';
import { parseDuration } from '../../lib/duration.ts';
import { emailKey } from '../../rules/user-key.ts';
import { named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { textAs } from '../settings-schema.ts';
import { rewardState } from '../shapes.ts';
import { type AnswerOf, endpoint } from './control-endpoint.ts';
import { bodyOf, instant, listLimit, settingAs, wrongLimit } from './fields.ts';

const name = () => z.string().nullable();

const LIFETIME_MIN_MS = 1_000;
export const LIFETIME_MUST_BE = 'must be a duration from 1s to 30d, such as 15m or 1h';
const lifetimeMs = (text: string) => {
  const ms = parseDuration(text);
  return ms !== undefined && ms >= LIFETIME_MIN_MS ? ms : undefined;
};
const tokenRequest = bodyOf(
  {
    user: textAs('must be an e-mail address', emailKey).meta({
      description: "The user's e-mail; a user without a wallet gets one.",
    }),
    expires: textAs(LIFETIME_MUST_BE, lifetimeMs)
      .prefault('1h')
      .meta({ description: 'A duration from `1s` to `30d`.' }),
    audience: settingAs({ kind: 'text', most: 255 }, (error) => z.string({ error }).max(255, { error }))
      .optional()
      .meta({ description: "Replaces the service's own audience." }),
  },
  'is unknown',
);

const tokenResult = z.object({
  token: z.string(),
  address: z.string().meta({ description: "The user's wallet." }),
  expiresAt: instant(),
});

const tokenCheck = z.object({ token: z.string({ error: 'must be a text' }) });

const tokenVerdict = z.object({
  verifies: z.boolean(),
  now: instant(),
  user: z.object({ subject: z.string(), email: name(), wallets: z.array(z.string()) }).nullable(),
  reason: name().meta({ description: 'Why the token is refused, such as `expired`.' }),
  message: name(),
});

const keysRotation = z.object({
  revoke: z
    .boolean({ error: 'must be true or false' })
    .default(false)
    .meta({ description: 'Tokens of the earlier keys end at once.' }),
});

const publishedKeys = z.object({
  keyId: z.string().meta({ description: 'Signs from now on.' }),
  published: z.array(z.string()),
});

const walletResult = z.object({
  user: z.string().meta({
    description: 'The key under which rewards count the user: an e-mail, a stand-in e-mail, or an address.',
  }),
  address: z.string(),
  index: z.int().nullable().meta({ description: 'Place in the key tree; null for an address of their own.' }),
  createdAt: instant(),
  identities: z.array(
    z.object({
      provider: z.string(),
      providerUserId: z.string(),
      username: name(),
      idpUserId: z.string(),
      createdAt: instant(),
    }),
  ),
});

export const issueToken = endpoint('POST /tokens', {
  id: 'issueToken',
  undo: 'passes',
  tag: 'Tokens',
  summary: 'A token for a user',
  status: 201,
  body: named('TokenWish', tokenRequest),
  example: { body: { user: 'alice@demo.example', expires: '1h' } },
  answer: { description: 'The token.', body: named('Token', tokenResult) },
  refusals: ['invalid_body', 'invalid_settings'],
});

export const verifyToken = endpoint('POST /tokens/verify', {
  id: 'verifyToken',
  undo: 'passes',
  tag: 'Tokens',
  summary: 'Whether a token is accepted, and why not',
  body: named('TokenCheck', tokenCheck),
  example: { body: { token: 'e30.e30.c2lnbmF0dXJl' } },
  answer: {
    description: "The relay's verdict on the token.",
    body: named('TokenVerdict', tokenVerdict),
  },
  refusals: ['invalid_body', 'invalid_settings'],
});

export const rotateTokenKeys = endpoint('POST /tokens/rotate-keys', {
  id: 'rotateTokenKeys',
  undo: 'passes',
  tag: 'Tokens',
  summary: 'Sign with a new key',
  body: named('KeysRotation', keysRotation),
  example: { body: { revoke: false } },
  answer: {
    description: 'The keys that are published now.',
    body: named('PublishedKeys', publishedKeys),
  },
  refusals: ['invalid_body', 'invalid_settings'],
});

export const showWallet = endpoint('GET /wallets/{user}', {
  id: 'showWallet',
  tag: 'Wallets',
  summary: 'Which wallet a user has',
  path: z.object({
    user: z.string().meta({ description: 'An e-mail, an address, or `<platform>:<id there>`.' }),
  }),
  example: { path: { user: demo.user } },
  answer: {
    description: 'The wallet, and as whom the user was registered.',
    body: named('Wallet', walletResult),
  },
  refusals: ['wallet_not_found'],
});

const USERS_MAX = 500;

const userRow = walletResult.pick({ user: true, address: true, createdAt: true });

const userDetail = walletResult.extend({
  rwt: z.int().meta({ description: 'What the wallet holds on chain now.' }),
  brands: z
    .array(
      z
        .object({
          brandId: z.string(),
          name: z.string(),
          rewards: z.int().meta({ description: 'How many the user got that did not fail.' }),
          earned: z.int().meta({ description: 'RWT of them.' }),
          streak: z
            .object({
              current: z.int().meta({ description: 'Days in a row; 0 where it has ended.' }),
              longest: z.int(),
              multiplier: z.number(),
              checkedInToday: z.boolean(),
              lastActivityAt: instant().nullable(),
              today: z.string().meta({ description: "Today's date in the brand's time zone." }),
              activeDays: z.array(z.string()).meta({
                description: 'Dates of the last 53 weeks on which the user was active, the latest first.',
              }),
            })
            .meta({ id: 'UserStreak' })
            .nullable(),
          claims: z.array(
            z
              .object({
                eventType: z.string(),
                claims: z.int(),
                maxClaims: z.int().nullable().meta({ description: 'Null: no limit.' }),
                lastAt: instant(),
                lastAmount: z.int(),
                againAt: instant()
                  .nullable()
                  .meta({ description: 'The end of the cooldown; null: it is over, or no claim is left.' }),
              })
              .meta({ id: 'UserClaim' }),
          ),
          aliases: z.array(z.string()).meta({ description: 'Other names of the user with this brand.' }),
        })
        .meta({ id: 'UserAtBrand' }),
    )
    .meta({ description: 'Those with whom the user has anything.' }),
  rewards: z
    .array(
      z
        .object({
          eventId: z.string(),
          brandId: z.string(),
          eventType: z.string(),
          amount: z.int(),
          at: instant(),
          status: rewardState.shape.status,
          transactionHash: z.string().nullable(),
          blockNumber: z.int().nullable(),
          reason: name(),
        })
        .meta({ id: 'UserReward' }),
    )
    .meta({ description: 'The latest 100, newest first.' }),
});

export const listUsers = endpoint('GET /users', {
  id: 'listUsers',
  tag: 'Users',
  summary: 'Users with a wallet, newest first',
  query: z.object({
    name: z
      .string()
      .optional()
      .meta({ description: 'Only those whose e-mail or address begins so, in its order.' }),
    brand: z.string().optional().meta({
      description:
        'Id or domain: only those who have claimed an event of this brand, in the order of their names.',
    }),
    after: z.string().optional().meta({ description: 'Only those that come after this user.' }),
    limit: listLimit(USERS_MAX),
  }),
  unfit: wrongLimit(USERS_MAX),
  example: { query: { name: 'alice' } },
  answer: {
    description: 'The users.',
    body: named(
      'UserList',
      z.object({
        users: z.array(userRow),
        more: z.boolean().meta({ description: 'Whether there are more: ask with `after`, the last user.' }),
      }),
    ),
  },
  refusals: ['invalid_limit', 'brand_not_found', 'wallet_not_found'],
});

export const showUser = endpoint('GET /users/{user}', {
  id: 'showUser',
  tag: 'Users',
  summary: 'One user: wallet, claims, streaks, rewards',
  path: showWallet.parts.path,
  example: { path: { user: demo.user } },
  answer: { description: 'The user, with every brand.', body: named('User', userDetail) },
  refusals: ['wallet_not_found'],
});

export type UserRow = AnswerOf<typeof listUsers>['users'][number];
export type ShownUser = AnswerOf<typeof showUser>;
export type IssuedToken = AnswerOf<typeof issueToken>;
export type TokenVerdict = AnswerOf<typeof verifyToken>;
export type PublishedKeys = AnswerOf<typeof rotateTokenKeys>;
export type ShownWallet = AnswerOf<typeof showWallet>;
