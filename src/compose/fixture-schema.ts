/** The shape of a fixture file: what may be written, and what is assumed where nothing is. */
import { z } from 'zod';
import { parseDuration } from '../lib/duration.ts';
import { isUnlimited, UNLIMITED } from '../rules/brands/brand.ts';
import { configuredHost } from '../rules/brands/domain.ts';
import { addressKey, emailKey } from '../rules/user-key.ts';

/** A text that `read` turns into a value; what it does not know is refused with `expected`. */
const textAs = <T>(expected: string, read: (text: string) => T | undefined) =>
  z.string({ error: expected }).transform((text, context): T => {
    const value = read(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: expected, input: text });
    return z.NEVER;
  });

/** A map with these keys and no others. */
const map = <S extends z.core.$ZodShape>(shape: S) =>
  z.strictObject(shape, { error: (issue) => (issue.code === 'invalid_type' ? 'must be a map' : undefined) });

const whole = (least: number, of: string) => {
  const expected = `must be a whole number of ${of}, ${least} or more`;
  return z.int({ error: expected }).min(least, { error: expected });
};
const words = (most = 200) => {
  const expected = `must be a text of 1 to ${most} characters`;
  return z.string({ error: expected }).min(1, { error: expected }).max(most, { error: expected });
};
const matching = (pattern: RegExp, expected: string) =>
  z.string({ error: expected }).regex(pattern, { error: expected });
/** A list with at least one thing in it. */
const listOf = <T extends z.ZodType>(one: T) => {
  const expected = 'must be a list with something in it';
  return z.array(one, { error: expected }).min(1, { error: expected });
};
const yesOrNo = z.boolean({ error: 'must be true or false' });
const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `must be ${values.slice(0, -1).join(', ')} or ${values.at(-1)}` });
const isUrl = (text: string) => /^https?:\/\//i.test(text) && URL.canParse(text);
const url = textAs('must be an http or https URL', (text) => (isUrl(text) ? text : undefined));
const plainObject = z.record(z.string(), z.json(), { error: 'must be a map of plain values' });

const DURATION = 'must be a duration such as 500ms, 90s, 15m, 24h, 7d or 1h30m, or 0';
const duration = z.union([z.literal(0), textAs(DURATION, parseDuration)], { error: DURATION });

const LIMIT = 'must be a whole number, 1 or more, or unlimited (also -1 or 999999)';
const count = z.int().refine((most) => most >= 1 || isUnlimited(most), { error: LIMIT });
const limit = z
  .union([z.literal('unlimited'), count], { error: LIMIT })
  .transform((most) => (most === 'unlimited' || isUnlimited(most) ? UNLIMITED : most));

const detection = map({
  method: matching(/^[a-z_]{1,50}$/, 'must be a word such as url_pattern').default('manual'),
  urlPatterns: listOf(words(2048)).optional(),
  successSelectors: listOf(words(2048)).optional(),
});

const event = map({
  reward: whole(1, 'RWT').describe('RWT for one claim.'),
  perUsd: z
    .number({ error: 'must be a number above 0' })
    .positive({ error: 'must be a number above 0' })
    .optional()
    .describe('RWT for each US dollar of metadata.order_total; without one, `reward` is paid.'),
  maxReward: whole(1, 'RWT').optional().describe('The most that perUsd may come to.'),
  multiplier: oneOf(['none', 'streak']).default('none'),
  maxClaims: limit.default(1).describe('Claims of one user.'),
  maxTotalClaims: limit.default(UNLIMITED).describe('Claims of all users together.'),
  cooldown: duration.default(86_400_000).describe('Between two claims of one user; 0: none.'),
  channels: listOf(words(100)).optional().describe('Chat channels that count.'),
  detection: detection.default({ method: 'manual' }).describe('How a page notices the event.'),
  active: yesOrNo.default(true),
}).refine(({ perUsd, maxReward }) => maxReward === undefined || perUsd !== undefined, {
  path: ['maxReward'],
  error: 'limits perUsd, which is not set',
});

const EVENT_TYPE = 'must be an event type: 1 to 50 letters, digits and underscores';
const eventType = matching(/^[A-Za-z0-9_]{1,50}$/, EVENT_TYPE);
const events = z.record(eventType, event, {
  error: (issue) =>
    issue.code === 'invalid_key' ? EVENT_TYPE : 'must be a map from event types to their rules',
});

const EVENT_NAME = 'must be a name of an event: 1 to 100 letters, digits and . : _ -';
const eventNames = z.record(matching(/^[A-Za-z0-9][\w.:-]{0,99}$/, EVENT_NAME), eventType, {
  error: (issue) =>
    issue.code === 'invalid_key' ? EVENT_NAME : 'must be a map from names of events to event types',
});

const perk = map({
  id: z.uuid({ error: 'must be a UUID' }),
  tokenId: whole(1, 'its own').describe('The perk on chain: its id in the ERC-1155 contract.'),
  name: words(),
  description: words(2000).default(''),
  category: oneOf(['digital', 'physical', 'exclusive']),
  cost: whole(1, 'RWT'),
  stock: limit.default(UNLIMITED),
  image: url.optional(),
  metadata: plainObject.default({}),
});

const factor = z
  .number({ error: 'must be a number, 1 or more' })
  .min(1, { error: 'must be a number, 1 or more' })
  .max(100, { error: 'must be 100 at most' });
const timeZone = textAs('must be a time zone such as UTC or Europe/Vienna', (text) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
});
const streak = map({
  timeZone: timeZone.default('UTC').describe('Where the days of the streak begin.'),
  grace: duration.default(36 * 3_600_000).describe('From one activity to the next, before a streak ends.'),
  checkInReward: whole(0, 'RWT').default(10).describe('Before the multiplier.'),
  multipliers: z.array(map({ fromDay: whole(1, 'days'), factor })).default([
    { fromDay: 3, factor: 1.1 },
    { fromDay: 7, factor: 1.25 },
    { fromDay: 14, factor: 1.5 },
    { fromDay: 30, factor: 2 },
  ]),
  milestones: z.array(map({ days: whole(1, 'days'), bonus: whole(1, 'RWT') })).default([
    { days: 7, bonus: 100 },
    { days: 30, bonus: 500 },
    { days: 100, bonus: 2000 },
    { days: 365, bonus: 10_000 },
  ]),
});

const site = map({
  debugLog: yesOrNo.default(false),
  hooks: z
    .array(map({ hook: words(100), event: words(50), enabled: yesOrNo.default(true) }))
    .default([])
    .describe('What happens on the site, and the event that it sends.'),
});

const WEBHOOK_SECRET = 'must be whsec_ and the base64 of 24 to 64 bytes';
const webhookSecret = textAs(WEBHOOK_SECRET, (text) => {
  const bytes = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text)?.[1];
  if (bytes === undefined) return undefined;
  const { length } = Buffer.from(bytes, 'base64');
  return length >= 24 && length <= 64 && bytes.length % 4 === 0 ? text : undefined;
});
const webhook = map({
  inbox: z.literal(true, { error: 'must be true, or left out' }).optional(),
  url: url.optional(),
  secret: webhookSecret,
}).refine(({ inbox, url }) => (inbox === undefined) !== (url === undefined), {
  error: 'must have either `inbox: true` or a url',
});

const brand = map({
  brandId: textAs('must be an address: 0x and 40 hexadecimal digits', addressKey).describe(
    "The address of the brand's wallet.",
  ),
  name: words(),
  domains: z
    .array(textAs('must be a domain of its own, such as shop.example (no public suffix)', configuredHost), {
      error: 'must be a list of domains',
    })
    .min(1, { error: 'must name at least one domain' }),
  platforms: z
    .record(z.string(), words(), { error: 'must be a map from platforms to identities' })
    .default({})
    .describe('Identities on chat platforms, such as `telegram: @Bot`.'),
  automation: yesOrNo.default(true).describe('Off: no event of the brand is rewarded.'),
  clientBypass: oneOf(['allow', 'credential'])
    .default('credential')
    .describe('Who may skip the cooldown: any client, or only one that sends the key of the brand.'),
  mintTo: oneOf(['wallet', 'escrow']).default('wallet').describe('Where RWT goes that the brand buys.'),
  pregenerate: oneOf(['open', 'credential'])
    .default('open')
    .describe(
      'Who may give people wallets in its name: any client, or only one that sends the key of the brand.',
    ),
  gasBudget: z
    .number({ error: 'must be a number' })
    .positive({ error: 'must be above 0' })
    .optional()
    .describe("What its users' calls may cost on a day, in the currency of the chain."),
  apiKey: matching(
    /^rk_[a-z]{1,10}_[A-Za-z0-9]{1,40}_[A-Za-z0-9]{24,100}$/,
    'must be rk_<environment>_<id>_<secret>, with a secret of 24 or more letters and digits',
  ).optional(),
  escrow: whole(0, 'RWT').default(0).describe('What the brand has deposited to pay rewards from.'),
  webhook: webhook.optional(),
  events: events.default({}),
  eventNameMapping: eventNames
    .optional()
    .describe('Other names that the brand has for its events, each with the event type that is meant.'),
  perks: z.array(perk, { error: 'must be a list of perks' }).default([]),
  streak: streak.prefault({}),
  site: site.prefault({}),
});

const user = map({
  email: textAs('must be an e-mail address', emailKey),
  login: matching(/^[a-z0-9][a-z0-9._-]{0,59}$/, 'must be a login name: letters, digits, dots and hyphens'),
  applicationPassword: matching(
    /^(?:[A-Za-z0-9]{4} ){5}[A-Za-z0-9]{4}$/,
    'must be six groups of four letters or digits, with blanks between them',
  ),
});

export const fixtureSchema = z.strictObject(
  {
    brands: z.array(brand, { error: 'must be a list of brands' }).default([]),
    users: z
      .array(user, { error: 'must be a list of users' })
      .default([])
      .describe('Who can log in to the site.'),
  },
  {
    error: (issue) => (issue.code === 'invalid_type' ? 'must be a map with `brands` and `users`' : undefined),
  },
);

/** A file as it is understood, with everything assumed filled in. */
export type FixtureFile = z.output<typeof fixtureSchema>;

/** The schema in the form that editors read, to complete and check a file while it is written. */
export const fixtureJsonSchema = () => ({
  ...z.toJSONSchema(fixtureSchema, { io: 'input', target: 'draft-7' }),
  title: 'A fixture of `rewards serve`: brands and users to start with',
});

/** The keys that the map at `path` may have. */
export function knownKeys(path: readonly (string | number)[]): string[] {
  let inside: JsonSchema | undefined = z.toJSONSchema(fixtureSchema, { io: 'input' }) as JsonSchema;
  for (const step of path) {
    inside =
      typeof step === 'number' ? inside?.items : (inside?.properties?.[step] ?? inside?.additionalProperties);
  }
  return Object.keys(inside?.properties ?? {});
}

interface JsonSchema {
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema;
  items?: JsonSchema;
}
