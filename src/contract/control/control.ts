/** Requests and answers of the emulator's control API. */
import { z } from 'zod';
import { aliasesOf, brandSpec, ruleSpec, settingNames } from '../../rules/brands/spec.ts';
import { SINCE_MUST_BE } from '../../rules/since.ts';
import { settingsBody, shownShape } from '../settings-schema.ts';
import { rewardState } from '../shapes.ts';

const instant = () => z.iso.datetime();
const name = () => z.string().nullable();

/** The hosts of the service, by the names under which their requests are recorded. */
export const requestHosts = ['events', 'register', 'services', 'relay'] as const;
export type RequestHost = (typeof requestHosts)[number];
const requestHost = z.enum(requestHosts).meta({ description: 'Which host answered.' });

export const requestsQuery = z
  .object({
    status: z
      .string()
      .regex(/^[1-5](xx|\d\d)$/)
      .meta({ description: '`429` or `4xx`.' }),
    method: z.string(),
    path: z.string().meta({ description: 'A part of the path.' }),
    user: z.string().meta({ description: 'E-mail or address of the user of an event or a call.' }),
    host: requestHost,
    brand: z.string().meta({ description: 'Id of the brand of an event, or that pays for a call.' }),
    decision: z.string().meta({ description: '`rewarded`, `confirmed`, or the code of the refusal.' }),
    after: z.string().meta({ description: 'Only requests newer than the one with this id.' }),
    limit: z.int().min(1).max(500).default(50),
  })
  .partial();

const requestSummary = z.object({
  id: z.string(),
  at: instant(),
  host: requestHost.nullable().meta({ description: 'Null for requests that an earlier version recorded.' }),
  method: z.string(),
  path: z.string(),
  search: z.string(),
  status: z.int(),
  durationMs: z.int(),
  decision: name().meta({
    description:
      '`rewarded` for an event, `confirmed` for a relayed call, or the code of the refusal; null without either.',
  }),
  user: name(),
  eventType: name(),
  call: name().meta({ description: 'The function of a relayed call.' }),
  brandId: name(),
  passesAt: instant().nullable().meta({ description: 'When the check that refused would pass.' }),
  rewardAmount: z.int().nullable(),
  transactionHash: name(),
  error: name(),
  events: z.int(),
  rewarded: z.int(),
});

export const requestList = z.object({ requests: z.array(requestSummary) });

export const requestDetail = requestSummary.extend({
  now: instant(),
  origin: name(),
  credential: z.enum(['key', 'token', 'signature', 'password', 'cookie']).nullable().meta({
    description: 'What the caller proved themselves with; its value is not kept.',
  }),
  requestHeaders: z.record(z.string(), z.string()).meta({
    description: 'The headers that change what a request does. Credentials and cookies are never kept.',
  }),
  responseHeaders: z.record(z.string(), z.string()),
  requestBodyKept: z.enum(['whole', 'none', 'cut', 'redacted', 'refused', 'not kept']).meta({
    description:
      '`none`: it had none. `cut`: it was too long. `redacted`: without the secrets in it. `refused`: it was no body of this endpoint.',
  }),
  requestBody: name(),
  responseBody: name(),
  withBrandKey: z.boolean(),
  explained: z
    .array(
      z.object({
        kind: z.enum(['event', 'relay']),
        eventType: name(),
        call: name(),
        user: name(),
        aliasOf: name().meta({
          description:
            'The user whose alias the event named; null where it named the user, or was refused before that was looked up.',
        }),
        eventId: name().meta({ description: 'Of the reward; null when the event was refused.' }),
        reward: rewardState.nullable().meta({
          description:
            'Where the reward is now, by the ledger. Its transaction may be another than in the answer.',
        }),
        checks: z.array(
          z.object({
            name: z.string(),
            outcome: z.enum(['ok', 'refused', 'skipped', 'not reached']),
            text: z.string(),
            passesAt: instant().nullable().optional(),
            or: z.string().optional().meta({ description: 'What else would let it pass.' }),
          }),
        ),
        passesAt: instant().nullable().meta({ description: 'When the whole event would pass.' }),
        never: z.object({ check: z.string(), text: z.string() }).nullable(),
      }),
    )
    .meta({ description: 'Each event of the request, or its relayed call, with its checks in their order.' }),
});

const total = (description: string) => z.int().meta({ description });
export const totalsResult = z.object({
  rewards: total('Rewards granted.'),
  rwtRewarded: total('RWT of all rewards, paid or on their way.'),
  mints: total('Mints of payments and by hand.'),
  rwtMinted: total('RWT of all mints.'),
  relays: total('Calls taken over for users.'),
  redemptions: total('Perks bought.'),
  checkouts: total('Checkouts begun.'),
  wallets: total('Users with a wallet.'),
  webhooks: total('Events that endpoints are told of.'),
});

export const ruleResult = z.object({ eventType: z.string(), ...shownShape(ruleSpec) });
const brand = z.object({
  ...shownShape(brandSpec),
  provenDomains: z.array(z.string()).meta({ description: 'Linked by DNS.' }),
  createdAt: instant(),
  funds: z
    .object({ deposited: z.int(), promised: z.int(), available: z.int() })
    .meta({ description: 'RWT.' }),
});
export const brandList = z.object({ brands: z.array(brand) });

export const fundingWish = z.object({
  amount: z.union([z.int().min(1), z.string()]).meta({ description: 'RWT to create.' }),
  reason: z.string().max(200).optional().meta({ description: 'Why; required in production.' }),
  transaction: z.string().optional().meta({
    description:
      'A transaction that minted without a row in this ledger: it is recorded, and nothing is minted.',
  }),
});
export const fundingResult = z.object({
  key: z.string().meta({ description: 'Minted once under this key.' }),
  brandId: z.string(),
  amount: z.int(),
  reason: z.string(),
  state: z.enum(['deposited', 'waiting', 'recorded']),
  transaction: z.object({ chainId: z.int(), to: z.string(), data: z.string() }).nullable().meta({
    description:
      'Of a mint that waits: the mint lane sends it, or an account with `OPERATOR_ROLE` on the points sale. Sent twice, it mints once.',
  }),
});

export const mintWish = z.object({
  to: z.string().meta({ description: 'The account that gets it.' }),
  amount: z.union([z.int().min(1), z.string()]).meta({ description: 'RWT to create.' }),
  reason: z.string().max(200).optional().meta({ description: 'Why; required in production.' }),
});
export const mintResult = z.object({
  key: fundingResult.shape.key,
  to: z.string(),
  amount: z.int(),
  reason: z.string(),
  state: z.enum(['minted', 'waiting', 'given_up']),
  failure: z.string().nullable().meta({ description: 'Why it was given up.' }),
  transactionHash: z.string().nullable(),
  transaction: fundingResult.shape.transaction,
});

/** How far the mint of a checkout has come. */
export const sessionMint = z.object({
  sessionId: z.string(),
  state: z
    .enum(['none', 'waiting', 'minted', 'given_up'])
    .meta({ description: '`none`: nobody has told the service that the session is paid.' }),
  failure: z.string().nullable().meta({ description: 'Why it was given up.' }),
  transactionHash: z.string().nullable(),
});

const key = z.object({ keyId: z.string(), createdAt: instant(), expiresAt: instant().nullable() });
const gasWallet = z.object({ address: z.string(), ready: z.boolean() }).meta({
  description:
    "Pays the gas of the brand's users; the service's own wallet pays while this one is not ready.",
});
const keylessPayment = z.object({
  pays: z.string().meta({
    description:
      'What is paid: `events`, `check-ins` or `milestones`; `redemptions` debit users, by no more than the brand has paid them.',
  }),
  text: z.string().meta({ description: 'To whom, and how much.' }),
  closedBy: z.string().meta({ description: "The setting that asks for the brand's key, or pays nothing." }),
});
export const brandDetail = brand.extend({
  keys: z.array(key),
  warnings: z
    .array(z.string())
    .meta({ description: 'What its settings and rules together are likely to do wrong.' }),
  paysWithoutKey: z.array(keylessPayment).meta({
    description:
      "What callers without the brand's key are paid, which the spend limits bound, and what they may redeem.",
  }),
  rules: z.array(ruleResult),
  gasWallet: gasWallet.nullable(),
});

export const newKey = z.object({
  keyId: z.string(),
  apiKey: z.string().meta({ description: 'Shown once; only a digest is kept.' }),
  othersExpireAt: instant().nullable(),
});
export const newBrandSettings = settingsBody(
  ['brandId', ...settingNames(brandSpec), 'escrow'],
  '`brandId`, `name` and `domains` are required; `escrow` is RWT to start with.',
  aliasesOf(brandSpec),
);
export const brandSettings = settingsBody(
  settingNames(brandSpec),
  'What is not named stays.',
  aliasesOf(brandSpec),
);
export const ruleSettings = settingsBody(
  settingNames(ruleSpec),
  'A new rule needs `reward`.',
  aliasesOf(ruleSpec),
);
export const newBrand = brandDetail.extend(newKey.shape);

export const keyRotation = z.object({
  overlap: z
    .string()
    .default('24h')
    .meta({ description: 'How long the earlier keys keep working: a duration, or 0.' }),
});

export const aliasWish = z.object({
  alias: z.string().meta({
    description:
      'The name under which the brand knows the user: an e-mail, or the stand-in e-mail of a platform.',
  }),
  user: z.string().meta({ description: "The user's e-mail." }),
});
export const shownAlias = z.object({
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
export const aliasList = z.object({
  aliases: z.array(shownAlias),
  more: z.boolean().meta({ description: 'Whether there are more: ask with `after`, the last alias.' }),
});
export const aliasesQuery = z.object({ after: z.string().optional() });
export const aliasRemoved = z.object({ removed: z.string() });

export const ruleRemoved = z.object({ removed: z.string() });

export const dnsQuery = z.object({ domain: z.string() });
export const dnsRecord = z.object({ type: z.literal('TXT'), name: z.string(), value: z.string() });

export const walletResult = z.object({
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

export const tokenWish = z.object({
  user: z.string().meta({ description: "The user's e-mail; a user without a wallet gets one." }),
  expires: z.string().default('1h').meta({ description: 'A duration from `1s` to `30d`.' }),
  audience: z.string().max(255).optional().meta({ description: "Replaces the service's own audience." }),
});
export const tokenResult = z.object({
  token: z.string(),
  address: z.string().meta({ description: "The user's wallet." }),
  expiresAt: instant(),
});
export const tokenCheck = z.object({ token: z.string() });
export const tokenVerdict = z.object({
  verifies: z.boolean(),
  now: instant(),
  user: z.object({ subject: z.string(), email: name(), wallets: z.array(z.string()) }).nullable(),
  reason: name().meta({ description: 'Why the token is refused, such as `expired`.' }),
  message: name(),
});
export const keysRotation = z.object({
  revoke: z.boolean().default(false).meta({ description: 'Tokens of the earlier keys end at once.' }),
});
export const publishedKeys = z.object({
  keyId: z.string().meta({ description: 'Signs from now on.' }),
  published: z.array(z.string()),
});

export const verifyQuery = z.object({
  limit: z.int().min(1).max(1_000).default(50).meta({ description: 'The most differences to show.' }),
  since: z
    .string()
    .optional()
    .meta({ description: `Compares a part: ${SINCE_MUST_BE}.` }),
});
export const verifyResult = z.object({
  ok: z.boolean(),
  differences: z.array(
    z.object({
      kind: z.string(),
      message: z.string(),
      about: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
      expected: name(),
      found: name(),
    }),
  ),
  flagged: z
    .array(
      z.object({
        kind: z.string(),
        message: z.string(),
        about: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
      }),
    )
    .meta({ description: 'Payments that a person should look at: given back or disputed after the mint.' }),
  complete: z.boolean().meta({ description: 'False when the search ended at the limit.' }),
  block: z.int().nullable().meta({ description: 'Compared as of this block.' }),
  behind: z.int().nullable().meta({ description: 'Blocks that the chain is ahead of it.' }),
  since: z.int().nullable().meta({ description: 'The first block of a part; null when all was compared.' }),
  notCompared: z.array(z.string()).meta({ description: 'What a part leaves out.' }),
  checked: z.record(z.string(), z.int()),
});

export const seedWish = z.object({
  apply: z.boolean().default(false).meta({ description: 'False only compares.' }),
  files: z
    .array(z.object({ name: z.string(), text: z.string() }))
    .optional()
    .meta({ description: 'Default: the files that the stack was started with.' }),
});
export const seedResult = z.object({
  applied: z.boolean(),
  changes: z
    .array(
      z.object({
        brandId: z.string(),
        brand: z.string(),
        eventType: name().meta({ description: 'Null for a setting of the brand itself.' }),
        setting: name().meta({ description: 'Null where the whole brand or rule is new.' }),
        from: name(),
        to: name(),
      }),
    )
    .meta({ description: 'What the files change, or have changed, in the ledger.' }),
});

export const controlProblem = z.object({
  success: z.literal(false),
  error: z.string(),
  message: z.string(),
  details: z.looseObject({ reason: z.string().optional() }),
});
