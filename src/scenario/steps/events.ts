/** Steps that send customer events, and what users do with the service itself. */
import { z } from 'zod';
import { personOf, registrationOf } from '../../client/person.ts';
import { listInbox } from '../../contract/control/inbox.ts';
import { fireSiteHook } from '../../contract/control/site.ts';
import {
  answerSeen,
  brandOf,
  controlBody,
  type JsonObject,
  keyHeader,
  type StepContext,
  userNamed,
} from './step-context.ts';
import {
  answer,
  anyObject,
  brandField,
  decision,
  duration,
  headersField,
  stepKind,
  text,
  textOrNumber,
  userField,
  yesNo,
} from './step-kind.ts';

const eventFields = {
  type: text('the type of the event'),
  user: userField().optional(),
  brand: brandField(),
  domain: z.string().nullable().optional().meta({
    description: 'where it happened; null for nowhere; default: the domain of the brand',
  }),
  sourceUrl: text('the page, in place of the domain').optional(),
  channel: text('`metadata.channel_id`').optional(),
  skipCooldown: yesNo('`metadata.skip_cooldown`').optional(),
  metadata: anyObject('facts about the event').optional(),
  body: anyObject('further fields of the body, as they are').optional(),
};
const sending = {
  brandKey: yesNo("send the brand's key along").optional(),
  idempotencyKey: text('the same key gets the first answer again').optional(),
  origin: text('Origin header').optional(),
  headers: headersField(),
};
const eventInput = z.strictObject({ ...eventFields, ...sending });
const bulkItem = z.strictObject(eventFields);

/** The body of manual-event. */
function eventBody(
  context: StepContext,
  input: z.output<typeof bulkItem>,
  { hasOrigin = false } = {},
): JsonObject {
  const { type, user, domain, sourceUrl, channel, skipCooldown, metadata, body } = input;
  const brand = brandOf(context, input.brand);
  const saysWhere = domain !== undefined || sourceUrl !== undefined || hasOrigin || brand.domain === '';
  const facts = {
    ...(channel !== undefined && { channel_id: channel }),
    ...(skipCooldown !== undefined && { skip_cooldown: skipCooldown }),
    ...metadata,
  };
  return {
    brandId: brand.brandId,
    eventType: type,
    ...(user !== undefined && userFields(context, user)),
    ...(saysWhere ? domain && { domain } : { domain: brand.domain }),
    ...(sourceUrl !== undefined && { sourceUrl }),
    ...(Object.keys(facts).length > 0 && { metadata: facts }),
    ...body,
  };
}

function userFields(context: StepContext, name: string): JsonObject {
  const { userIdentifier, platform } = personOf(userNamed(context, name));
  if (platform === undefined) return { userEmail: userIdentifier };
  return { userIdentifier: { platform, platformUserId: userIdentifier } };
}

function eventHeaders(context: StepContext, input: z.output<typeof eventInput>): Record<string, string> {
  const { brandKey, idempotencyKey, origin, headers } = input;
  return {
    ...keyHeader(context, brandOf(context, input.brand), brandKey),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    ...(origin !== undefined && { origin }),
    ...headers,
  };
}

export const event = stepKind({
  about: 'Sends a customer event (`POST manual-event`)',
  sees: { ...answer, ...decision },
  input: eventInput,
  async run(context, input) {
    const body = eventBody(context, input, { hasOrigin: input.origin !== undefined });
    return answerSeen(await context.client.sendEvent(body, { headers: eventHeaders(context, input) }));
  },
});

export const bulk = stepKind({
  about: 'Sends several events in one request (`POST bulk-events`)',
  sees: answer,
  input: z.strictObject({
    events: z.array(bulkItem, { error: 'must be a list of events' }).meta({ description: 'as for `event`' }),
    brandKey: sending.brandKey,
    headers: headersField(),
  }),
  async run(context, { events, brandKey, headers }) {
    const brand = brandOf(context, events[0]?.brand);
    return answerSeen(
      await context.client.request({
        host: 'events',
        path: '/rewards-api/bulk-events',
        method: 'POST',
        body: { events: events.map((one) => eventBody(context, one)) },
        headers: { ...keyHeader(context, brand, brandKey), ...headers },
      }),
    );
  },
});

/** What pays says where it comes from, as events do. */
const placeOf = ({ domain }: { domain: string }) => (domain === '' ? {} : { domain });

export const checkIn = stepKind({
  about: 'Records that a user was active today (`POST streak/record-activity`)',
  sees: answer,
  input: z.strictObject({
    user: userField(),
    brand: brandField(),
    type: text('of the streak; default: `daily`').optional(),
    platform: text('where the user was active').optional(),
    brandKey: sending.brandKey,
    headers: headersField(),
  }),
  async run(context, { user, brand: name, type = 'daily', platform, brandKey, headers }) {
    const brand = brandOf(context, name);
    const fields = { ...(platform !== undefined && { platform }), ...personOf(userNamed(context, user)) };
    return answerSeen(
      await context.client.streaks.recordActivity(
        { brandId: brand.brandId, streakType: type, ...placeOf(brand), ...fields },
        { headers: { ...keyHeader(context, brand, brandKey), ...headers } },
      ),
    );
  },
});

export const redeem = stepKind({
  about: 'Buys a perk with the RWT of a user (`POST perks/redeem`)',
  sees: answer,
  input: z.strictObject({
    user: userField(),
    perk: textOrNumber('its id, its token or its name'),
    brand: brandField(),
    brandKey: sending.brandKey,
    idempotencyKey: sending.idempotencyKey,
    headers: headersField(),
  }),
  async run(context, { user, perk, brand: name, brandKey, idempotencyKey, headers: more }) {
    const brand = brandOf(context, name);
    const { brandId } = brand;
    const listed = await context.client.perks.list(
      { brandId, activeOnly: 'false' },
      more ? { headers: more } : {},
    );
    const perks = 'perks' in listed.body ? listed.body.perks : [];
    const wanted = String(perk).toLowerCase();
    const found = perks.find((one) => String(one.tokenId) === wanted || one.name.toLowerCase() === wanted);
    const headers = {
      ...keyHeader(context, brand, brandKey),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...more,
    };
    const body = { brandId, perkId: found?.id ?? String(perk), ...personOf(userNamed(context, user)) };
    return answerSeen(await context.client.perks.redeem(body, { headers }));
  },
});

export const pregenerate = stepKind({
  about: 'Gives a user a wallet before their first event (`POST pregenerate-user`)',
  sees: answer,
  input: z.strictObject({
    user: userField(),
    username: text('their name on the platform').optional(),
    brand: brandField(),
    headers: headersField(),
  }),
  async run(context, { user, username, brand, headers }) {
    const who = registrationOf(userNamed(context, user), username);
    const body = { brand_id: brandOf(context, brand).brandId, ...who };
    return answerSeen(await context.client.pregenerate(body, { ...(headers && { headers }) }));
  },
});

const hosts = ['events', 'relay', 'register', 'services', 'site', 'control'] as const;

export const http = stepKind({
  about: 'Sends any request: the way out where no other step fits',
  needs: (input) => {
    const { host } = (input ?? {}) as { host?: unknown };
    return host === 'control' ? 'controls' : host === 'site' ? 'site' : undefined;
  },
  needsText: '`controls` or `site` for these hosts',
  sees: answer,
  input: z.strictObject({
    method: text('default: GET, or POST with a body').optional(),
    path: text('with its slash, as docs/api.md has it'),
    host: z
      .enum(hosts, { error: `must be one of ${hosts.join(', ')}` })
      .optional()
      .meta({
        description: 'which host; default: events',
      }),
    headers: headersField(),
    body: z.unknown().optional().meta({ description: 'a text goes out as it is, all else as JSON' }),
  }),
  async run({ client, target }, { method, path, host = 'events', headers, body }) {
    const token = host === 'control' && target.controlToken;
    return answerSeen(
      await client.request({
        host,
        path,
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: { ...(token && { authorization: `Bearer ${token}` }), ...headers },
        ...(body !== undefined && { body }),
      }),
    );
  },
});

export const site = stepKind({
  about: 'Lets something happen on the demo site, and the events that follow it',
  needs: 'site',
  sees: answer,
  input: z.strictObject({
    hook: text('such as `login`, `comment_posted` or `order_completed`'),
    user: userField(),
    metadata: anyObject('what the hook tells').optional(),
  }),
  async run(context, { hook, user, metadata }) {
    return answerSeen(
      await context.client.call(fireSiteHook, {
        path: { hook },
        body: { user: userNamed(context, user), metadata },
      }),
    );
  },
});

export const inbox = stepKind({
  about: 'Looks at what the built-in receiver of webhooks got',
  needs: 'inbox',
  sees: {
    count: 'how many deliveries fit',
    first: 'the oldest of them: `body`, `headers`, `signature.valid`',
    last: 'the newest of them',
    deliveries: 'all of them, newest first',
  },
  input: z.strictObject({
    type: text('only webhooks of this type').optional(),
    user: userField().optional(),
  }),
  async run(context, { type, user }) {
    const { deliveries } = controlBody(await context.client.call(listInbox, { query: { limit: 500 } }));
    const email = user === undefined ? undefined : userNamed(context, user);
    const fitting = deliveries.filter(({ body, rawBody }) => {
      const { type: own, event: other } = (body ?? {}) as Record<string, unknown>;
      return (
        (type === undefined || own === type || other === type) &&
        (email === undefined || rawBody.includes(email))
      );
    });
    return { count: fitting.length, first: fitting.at(-1), last: fitting[0], deliveries: fitting };
  },
});

export const clock = stepKind({
  about: 'Moves, stops or starts the clock',
  needs: 'clock',
  sees: {
    now: 'the time',
    nowMs: 'the same in milliseconds',
    frozen: 'whether it stands',
    fired: 'what fell due',
  },
  input: z
    .strictObject({
      advance: duration('how far'),
      set: text('to this RFC 3339 time'),
      freeze: yesNo('stops it, or lets it run again'),
      until: text('as `rewards clock advance --until` takes it, such as `window-reset:alice`'),
    })
    .partial()
    .refine((wish) => Object.keys(wish).length === 1, 'takes one of advance, set, freeze and until'),
  async run({ client, target }, wish) {
    const until = typeof wish.until === 'string' ? { until: untilNamed(target, wish.until) } : {};
    const reply = await client.request({
      host: 'control',
      path: '/clock',
      method: 'POST',
      headers: { authorization: `Bearer ${target.controlToken ?? ''}` },
      body: { ...wish, ...until },
    });
    return { ...(controlBody(reply) as object) };
  },
});

/** `window-reset:alice`: logins stand for what the clock knows users by, addresses for windows and e-mails for cooldowns. */
function untilNamed({ users }: StepContext['target'], until: string): string {
  const [, kind, name, rest = ''] = /^([\w-]+):([\w-]+)(\/.*)?$/.exec(until) ?? [];
  const user = users.find(({ login }) => login === name);
  if (!user) return until;
  return `${kind}:${kind === 'window-reset' ? user.address : user.email}${rest}`;
}
