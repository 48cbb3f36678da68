/** The contract's Event submission, body of manual-event and item of bulk-events: every field of the contract's Event submission table, checked and brought into one form. */
import { z } from 'zod';
import type { BrandId } from '../../rules/brands/brand.ts';
import { canonicalHost, DOMAIN_MAX, hostOfUrl } from '../../rules/brands/domain.ts';
import { given } from '../../rules/brands/settings.ts';
import type { EventSubmission } from '../../rules/events/submission.ts';
import { platformName, platformUserKey } from '../../rules/platforms.ts';
import { sanitiseText, sanitiseValue } from '../../rules/sanitise.ts';
import { addressKey, EMAIL_MAX, emailKey } from '../../rules/user-key.ts';
import { idempotencyKeyField } from '../headers.ts';
import {
  ADDRESS_PROBLEM,
  brandIdMeta,
  DOMAIN_PROBLEM,
  EMAIL_PROBLEM,
  emailMeta,
  OBJECT_PROBLEM,
  problemsOf,
  trimmedText,
} from '../shapes.ts';

/** The contract's limits: Event submission. */
const EVENT_TYPE_MAX = 50;
const SOURCE_URL_MAX = 2_048;
/** No platform comes near these. */
const PLATFORM_NAME_MAX = 64;
const PLATFORM_ID_MAX = 128;
const PLATFORM_FORM = /^[\w-]{1,64}$/;

/** A text that is null or empty counts as not sent. A field of it ends in `optional`: where it is missing, nothing more is looked at. */
const textOrNothing = () =>
  trimmedText()
    .nullable()
    .transform((value) => value || undefined);

const platformUser = z
  .object(
    {
      platform: trimmedText()
        .refine((name) => PLATFORM_FORM.test(name), 'must be a platform name')
        .meta({ description: 'Such as `discord`.', maxLength: PLATFORM_NAME_MAX }),
      platformUserId: z
        .union([z.string(), z.number().transform(String)], { error: 'must be a string or a number' })
        .transform((id) => sanitiseText(id).trim())
        .refine(
          (id) => /^[\w.@+-]+$/.test(id) && id.length <= PLATFORM_ID_MAX,
          'must be an id on that platform',
        )
        .meta({ description: "The user's id there.", maxLength: PLATFORM_ID_MAX }),
    },
    { error: 'must be an e-mail, an address, or {platform, platformUserId}' },
  )
  .meta({ id: 'PlatformUser' });

/** The account of a brand on a platform, at the top level; what is not a text is not looked at, as in `metadata`. */
const platformAccount = (description: string) =>
  z
    .unknown()
    .transform((value) => (typeof value === 'string' ? sanitiseText(value).trim() || undefined : undefined))
    .optional()
    .meta({ description, type: 'string' });

const METADATA = 'Free-form facts about the event.';
/** The fields of `metadata` that the service looks at; all others are only kept. */
const describedMetadata = z.looseObject({}).meta({
  id: 'EventMetadata',
  description: METADATA,
  properties: {
    channel_id: {
      type: ['string', 'number', 'null'],
      description: "Chat channel, compared with the event's channels; a leading `#` and case do not count.",
    },
    skip_cooldown: {
      type: ['boolean', 'null'],
      description: 'When true, the cooldown is skipped, if the brand allows that.',
    },
    source: {
      type: 'string',
      description:
        "`chat_manual_reward`, `voice_claim` and `gateway_event`, sent with the brand's key, skip cooldown and max claims.",
    },
    order_total: {
      type: ['number', 'string'],
      description: 'US dollars, for events that pay per dollar.',
    },
    bot_username: { type: 'string', description: 'Bot through which an event of Telegram came.' },
    twitterHandle: { type: 'string', description: 'Account through which an event of Twitter came.' },
    server_id: { type: 'string', description: 'Server through which an event of Discord came.' },
    guild_id: { type: 'string', description: 'Another name of `server_id`.' },
  },
});

const manualEventBody = z.object(
  {
    brandId: trimmedText()
      .refine((id) => /^0x[0-9a-f]{40}$/i.test(id), ADDRESS_PROBLEM)
      .meta(brandIdMeta),
    eventType: trimmedText()
      .refine((type) => type.length <= EVENT_TYPE_MAX, `must have at most ${EVENT_TYPE_MAX} characters`)
      .refine((type) => /^[A-Za-z0-9_]+$/.test(type), 'must be letters, digits and underscores')
      .meta({
        description: "Name of one of the brand's events; the brand's own begin with `custom_`.",
        maxLength: EVENT_TYPE_MAX,
        pattern: '^[A-Za-z0-9_]+$',
      }),
    userEmail: textOrNothing()
      .refine(
        (email) => email === undefined || email.length <= EMAIL_MAX,
        `must have at most ${EMAIL_MAX} characters`,
      )
      .refine((email) => email === undefined || emailKey(email) !== undefined, EMAIL_PROBLEM)
      .optional(),
    domain: textOrNothing()
      .refine(
        (domain) => domain === undefined || domain.length <= DOMAIN_MAX,
        `must have at most ${DOMAIN_MAX} characters`,
      )
      .refine((domain) => domain === undefined || canonicalHost(domain) !== undefined, DOMAIN_PROBLEM)
      .meta({
        description: 'Where it happened. When absent, the host of `sourceUrl`, then of the Origin header.',
        maxLength: DOMAIN_MAX,
      })
      .optional(),
    sourceUrl: textOrNothing()
      .refine(
        (url) => url === undefined || url.length <= SOURCE_URL_MAX,
        `must have at most ${SOURCE_URL_MAX} characters`,
      )
      .refine((url) => url === undefined || hostOfUrl(url) !== undefined, 'must be an HTTP or HTTPS URL')
      .meta({ description: 'The page on which it happened: HTTP or HTTPS.', maxLength: SOURCE_URL_MAX })
      .optional(),
    userIdentifier: z
      .union([textOrNothing(), platformUser], {
        error: 'must be an e-mail, an address, or {platform, platformUserId}',
      })
      .refine(
        (user) => typeof user !== 'string' || emailKey(user) !== undefined || addressKey(user) !== undefined,
        'must be an e-mail or a blockchain address',
      )
      .optional(),
    channel_id: z
      .union([textOrNothing(), z.number().transform(String)], { error: 'must be a string' })
      .meta({ description: 'The same as `metadata.channel_id`, which takes precedence.' })
      .optional(),
    bot_username: platformAccount('The same as `metadata.bot_username`, which takes precedence.'),
    twitterHandle: platformAccount('The same as `metadata.twitterHandle`, which takes precedence.'),
    metadata: z
      .record(z.string(), z.unknown(), { error: 'must be an object' })
      .nullable()
      .transform((metadata) => (sanitiseValue(metadata ?? {}) ?? {}) as Record<string, unknown>)
      .refine(
        ({ channel_id }) =>
          ['undefined', 'string', 'number'].includes(typeof channel_id) || channel_id === null,
        'channel_id must be a string',
      )
      .refine(
        ({ skip_cooldown }) =>
          ['undefined', 'boolean'].includes(typeof skip_cooldown) || skip_cooldown === null,
        'skip_cooldown must be true or false',
      )
      .optional(),
  },
  { error: OBJECT_PROBLEM },
);

const describedFields = manualEventBody.extend({
  metadata: describedMetadata.nullable().optional().meta({ description: METADATA }),
  idempotencyKey: idempotencyKeyField
    .optional()
    .meta({ description: 'In place of the header Idempotency-Key; with `manual-event` only.' }),
});

/**
 * The submission as the API description has it: one object for each way to name the user, each of them whole, since
 * generators of clients lose the fields of an object that has alternatives beside them.
 */
export const describedSubmission = z
  .union([
    describedFields
      .extend({
        userEmail: z.string().meta({ description: 'Who gets the reward (RFC 5322).', ...emailMeta }),
        userIdentifier: z.unknown().meta({ description: 'Not looked at; kept in `metadata`.' }).optional(),
      })
      .meta({ id: 'EventByEmail', description: 'An event of a user who is named by `userEmail`.' }),
    describedFields
      .extend({
        userEmail: z
          .string()
          .regex(/^\s*$/)
          .nullable()
          .meta({ description: 'Null, empty or left out.' })
          .optional(),
        userIdentifier: z
          .union([z.string().regex(/\S/), platformUser])
          .meta({ description: 'An e-mail, a blockchain address, or a user of a chat platform.' }),
      })
      .meta({ id: 'EventByIdentifier', description: 'An event of a user who is named by `userIdentifier`.' }),
  ])
  .meta({ description: 'One customer event.' });

/** How many problems are listed at most; a hostile body could earn thousands. */
const PROBLEMS_MAX = 20;

/** Facts of the request outside its body. */
interface RequestFacts {
  origin: string | undefined;
  /** Host of this service, under which users of chat platforms get their stand-in e-mail. */
  ownDomain: string;
}

/** The submission, or its problems, each prefixed with its field. */
export function parseManualEvent(
  body: unknown,
  facts: RequestFacts,
): { submission: Unkeyed } | { errors: string[] } {
  const { known, spare } = withoutSpareIdentifier(body);
  const parsed = manualEventBody.safeParse(known);
  if (!parsed.success) {
    const problems = [
      ...new Set([...problemsOf(parsed.error), ...(namesNobody(body) ? [USER_MISSING] : [])]),
    ];
    return { errors: problems.slice(0, PROBLEMS_MAX) };
  }
  const { brandId, eventType, domain, sourceUrl, bot_username, twitterHandle } = parsed.data;
  const metadata = given<Record<string, unknown>>({
    bot_username,
    twitterHandle,
    ...spare,
    ...parsed.data.metadata,
  });
  const user = userOf(parsed.data, facts.ownDomain);
  if (!user) return { errors: [USER_MISSING] };
  const own = (name: string) => (Object.hasOwn(metadata, name) ? metadata[name] : undefined);
  const channel = own('channel_id') ?? parsed.data.channel_id;
  return {
    submission: {
      brandId: brandId.toLowerCase() as BrandId,
      eventType,
      domain: domain && canonicalHost(domain),
      sourceUrl,
      origin: facts.origin,
      channel: channel === undefined || channel === null || channel === '' ? undefined : String(channel),
      skipCooldown: own('skip_cooldown') === true,
      metadata,
      platform: platformOf(parsed.data.userIdentifier, own('platform')),
      ...user,
    },
  };
}

/** The platform whose id names the user, or else what the event says of it. */
function platformOf(userIdentifier: unknown, said: unknown): string | undefined {
  if (typeof userIdentifier === 'object' && userIdentifier !== null && 'platform' in userIdentifier)
    return platformName(String(userIdentifier.platform));
  return typeof said === 'string' && PLATFORM_FORM.test(said) ? platformName(said) : undefined;
}

const USER_MISSING = 'userEmail: is required (or userIdentifier in its place)';

/** Whether an object has neither of the fields that name the user; told beside all else that is wrong. */
const namesNobody = (body: unknown): boolean =>
  typeof body === 'object' &&
  body !== null &&
  !Array.isArray(body) &&
  ['userEmail', 'userIdentifier'].every((field) => {
    const value = (body as Record<string, unknown>)[field];
    return value === undefined || value === null || value === '';
  });

/**
 * Takes the identifier out of a body whose e-mail says already who the user is: it may then have any form, such as a
 * customer number, and is only kept with the event's metadata.
 */
function withoutSpareIdentifier(body: unknown): { known: unknown; spare?: Record<string, unknown> } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { known: body };
  const { userIdentifier, ...known } = body as Record<string, unknown>;
  if (userIdentifier === undefined || userIdentifier === null || userIdentifier === '')
    return { known: body };
  const { userEmail } = known;
  const saysWho = typeof userEmail === 'string' && emailKey(sanitiseText(userEmail).trim()) !== undefined;
  if (!saysWho) return { known: body };
  return { known, spare: { userIdentifier: sanitiseValue(userIdentifier) } };
}

/** A submission whose request's key has not been verified yet. */
export type Unkeyed = Omit<EventSubmission, 'withBrandKey'>;

function userOf(
  body: Pick<z.output<typeof manualEventBody>, 'userEmail' | 'userIdentifier'>,
  ownDomain: string,
): Pick<EventSubmission, 'userKey' | 'userEmail' | 'userAddress'> | undefined {
  const byKey = (userKey: string | undefined) =>
    userKey === undefined ? undefined : { userKey, userEmail: userKey, userAddress: undefined };
  const byEmail = (email: string | undefined) => byKey(email === undefined ? undefined : emailKey(email));
  const { userEmail, userIdentifier } = body;
  if (userEmail !== undefined) return byEmail(userEmail);
  if (typeof userIdentifier === 'object') {
    return byKey(platformUserKey(userIdentifier.platform, userIdentifier.platformUserId, ownDomain));
  }
  const address = userIdentifier === undefined ? undefined : addressKey(userIdentifier);
  if (address) return { userKey: address, userEmail: undefined, userAddress: address };
  return byEmail(userIdentifier);
}
