/** What callers do: send, send again, send all at once, wait. Each is done to the model and to the service, and compared. */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Answer, TestService } from '../../kits/service/service.ts';
import { events, grant, type Model, RULES, verdict, type Way } from './model.ts';

/** One run's own brand on a service that all runs share. */
export interface Shop {
  service: TestService;
  brandId: string;
  domain: string;
  apiKey: string;
  /** In the users' names, so that no run meets another's. */
  tag: string;
  /** Wallets that were answered, by user. */
  wallets: Map<number, string>;
}

type Step = fc.AsyncCommand<Model, Shop>;
interface Sent {
  user: number;
  event: string;
  way: Way;
  key?: string | undefined;
}

const said = ({ status, body }: Answer): string =>
  status === 200 ? 'rewarded' : (body.details?.reason ?? `${status}`);

async function send(shop: Shop, { user, event, way, key }: Sent): Promise<Answer> {
  const { brandId, domain, apiKey, tag } = shop;
  const body = {
    brandId,
    domain,
    eventType: event,
    userEmail: `u${user}-${tag}@people.example`,
    metadata: { ...(way.source && { source: way.source }), ...(way.skipCooldown && { skip_cooldown: true }) },
  };
  const answer = await shop.service.post('/rewards-api/manual-event', body, {
    ...(way.withKey && { authorization: `Bearer ${apiKey}` }),
    ...(key !== undefined && { 'idempotency-key': `${tag}-${key}` }),
  });
  if (answer.status === 200) {
    expect(answer.body.rewardAmount).toBe(RULES[event]?.reward);
    shop.wallets.set(user, answer.body.walletAddress);
  }
  return answer;
}

class Send implements Step {
  readonly sent: Sent;
  constructor(sent: Sent) {
    this.sent = sent;
  }
  check = () => true;
  async run(model: Model, shop: Shop) {
    const { user, event, way } = this.sent;
    const key = this.sent.key === undefined ? undefined : `key${model.keyed.length}`;
    const expected = verdict(model, user, event, way);
    const answer = await send(shop, { ...this.sent, key });
    expect(said(answer)).toBe(expected);
    if (expected === 'rewarded') grant(model, user, event);
    // What failed on the service's side is not kept: a repetition is decided anew.
    const kept = answer.status < 500 ? JSON.stringify(answer.body) : undefined;
    if (key !== undefined) model.keyed.push({ key, user, event, way, kept });
  }
  toString = () => `send ${JSON.stringify(this.sent)}`;
}

/** The same request under the same key: the same words, and nothing else happens. */
class Again implements Step {
  readonly which: number;
  readonly other: boolean;
  constructor(which: number, other: boolean) {
    this.which = which;
    this.other = other;
  }
  check = (model: Readonly<Model>) => model.keyed.length > 0;
  async run(model: Model, shop: Shop) {
    const before = model.keyed[this.which % model.keyed.length];
    if (!before) return;
    const { user, event, way, key } = before;
    if (this.other) {
      if (before.kept === undefined) return;
      const answer = await send(shop, { user: user + 1, event, way, key });
      expect(said(answer)).toBe('idempotency_key_reused');
      return;
    }
    const expected = verdict(model, user, event, way);
    const answer = await send(shop, { user, event, way, key });
    if (before.kept === undefined) {
      expect(said(answer)).toBe(expected);
      if (expected === 'rewarded') grant(model, user, event);
      if (answer.status < 500) before.kept = JSON.stringify(answer.body);
    } else expect(JSON.stringify(answer.body)).toBe(before.kept);
  }
  toString = () => `again ${this.which}${this.other ? ', another body' : ''}`;
}

/** The same event of one user many times at once: one of them at most is rewarded. */
class Echo implements Step {
  readonly sent: Sent;
  readonly times: number;
  constructor(sent: Sent, times: number) {
    this.sent = sent;
    this.times = times;
  }
  check = () => true;
  async run(model: Model, shop: Shop) {
    const { user, event, way } = this.sent;
    const expected = verdict(model, user, event, way);
    const answers = await Promise.all(Array.from({ length: this.times }, () => send(shop, this.sent)));
    const words = answers.map(said).sort();
    if (expected !== 'rewarded') {
      expect(words).toEqual(Array(this.times).fill(expected));
      return;
    }
    grant(model, user, event);
    const after = verdict(model, user, event, way);
    expect(words).toEqual([expected, ...Array(this.times - 1).fill(after)].sort());
  }
  toString = () => `${this.times} times at once ${JSON.stringify(this.sent)}`;
}

/** Many users at once: as many are rewarded as limit and escrow allow, whoever they are. */
class Crowd implements Step {
  readonly users: number[];
  readonly event: string;
  constructor(users: number[], event: string) {
    this.users = users;
    this.event = event;
  }
  check = () => true;
  async run(model: Model, shop: Shop) {
    const { event, users } = this;
    const way: Way = { withKey: false, source: undefined, skipCooldown: false };
    const rule = RULES[event];
    if (!rule) return;
    const able = users.filter((user) => verdict(model, user, event, way) === 'rewarded');
    const room =
      rule.maxTotalClaims < 0 ? users.length : rule.maxTotalClaims - (model.totals.get(event) ?? 0);
    const count = Math.min(able.length, room, Math.floor(model.left / rule.reward));
    const answers = await Promise.all(users.map((user) => send(shop, { user, event, way })));
    const rewarded = users.filter((_, place) => answers[place]?.status === 200);
    expect(rewarded.filter((user) => !able.includes(user))).toEqual([]);
    expect(rewarded.length).toBe(count);
    for (const user of rewarded) grant(model, user, event);
    for (const [place, answer] of answers.entries())
      if (answer.status !== 200) expect(said(answer)).toBe(verdict(model, users[place] ?? 0, event, way));
  }
  toString = () => `users ${this.users.join(' ')} at once: ${this.event}`;
}

class Wait implements Step {
  readonly seconds: number;
  constructor(seconds: number) {
    this.seconds = seconds;
  }
  check = () => true;
  async run(model: Model, { service }: Shop) {
    const { status } = await service.advance(`${this.seconds}s`);
    expect(status).toBe(200);
    model.nowMs += this.seconds * 1_000;
  }
  toString = () => `wait ${this.seconds} s`;
}

/** The same event of the same user after a while: around the edges of every waiting time. */
class Return implements Step {
  readonly steps: Step[];
  constructor(sent: Sent, seconds: number) {
    this.steps = [new Send(sent), new Wait(seconds), new Send(sent)];
  }
  check = () => true;
  async run(model: Model, shop: Shop) {
    for (const step of this.steps) await step.run(model, shop);
  }
  toString = () => this.steps.join(', ');
}

const user = fc.integer({ min: 0, max: 3 });
const event = fc.constantFrom(...events);
const way = fc.record({
  withKey: fc.boolean(),
  source: fc.constantFrom<Way['source'][]>(undefined, undefined, 'page', 'voice_claim'),
  skipCooldown: fc.boolean(),
});
const sent = fc.record({ user, event, way });

/** Sequences of up to `most` steps. */
export const stories = (most: number) =>
  fc.commands<Model, Shop, false>(
    [
      sent.map((one) => new Send(one)),
      sent.map((one) => new Send({ ...one, key: 'new' })),
      fc.tuple(fc.nat(20), fc.boolean()).map(([which, other]) => new Again(which, other)),
      fc.tuple(sent, fc.integer({ min: 2, max: 6 })).map(([one, times]) => new Echo(one, times)),
      fc
        .tuple(fc.uniqueArray(fc.integer({ min: 0, max: 7 }), { minLength: 2, maxLength: 8 }), event)
        .map(([users, one]) => new Crowd(users, one)),
      fc.constantFrom(1, 29, 60, 90, 300).map((seconds) => new Wait(seconds)),
      fc
        .tuple(sent, fc.constantFrom(1, 30, 59, 60, 61, 89, 90, 91, 299, 300, 301))
        .map(([one, seconds]) => new Return(one, seconds)),
    ],
    { maxCommands: most },
  );
