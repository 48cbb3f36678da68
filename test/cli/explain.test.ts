import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { explanationText } from '../../src/cli/talk/requests/explanation.ts';
import { plainStyle } from '../../src/cli/terminal/style.ts';
import type { RequestDetail } from '../../src/contract/control/requests.ts';
import { rewards, rewardsJson } from '../kits/service/cli.ts';
import { someone, startTestService, type TestService } from '../kits/service/service.ts';

let service: TestService;
const poor = `0x${'2'.repeat(40)}`;
const rich = `0x${'3'.repeat(40)}`;

beforeAll(async () => {
  service = await startTestService();
  await succeeds('brand', 'create', poor, '--brand-name', 'Poor', '--domain', 'poor.example');
  await succeeds('brand', 'rule', poor, 'visit', '--reward', '10');
  const escrow = ['--escrow', '1000'];
  await succeeds('brand', 'create', rich, '--brand-name', 'Rich', '--domain', 'rich.example', ...escrow);
  await succeeds('brand', 'rule', rich, 'scarce', '--reward', '10', '--max-total', '1', '--cooldown', '0');
});
afterAll(() => service.stop());

const around = () => ({ env: { REWARDS_CONTROL_TOKEN: service.ready.controlToken } });
const at = () => ['--target', service.ready.urls.events];
const cli = (...args: string[]) => rewards([...args, ...at()], around());
const cliJson = (...args: string[]) => rewardsJson([...args, ...at()], around());

async function succeeds(...args: string[]) {
  const finished = await cli(...args);
  expect(finished).toMatchObject({ code: exitCodes.done, stderr: '' });
  return finished.stdout;
}

/** The last refusal as the emulator explains it: the check that refused, and what is to be done. */
async function explain(id: string) {
  const { code, envelope } = await cliJson('requests', 'explain', id);
  expect(code).toBe(exitCodes.done);
  const body = envelope.data.body as RequestDetail;
  const [event] = body.explained;
  const refused = event?.checks.filter(({ outcome }) => outcome === 'refused') ?? [];
  expect(refused).toHaveLength(1);
  return { body, event, check: refused[0], text: explanationText(body, plainStyle) };
}

type Fields = Record<string, unknown>;
interface Case {
  reason: string;
  check: string;
  numbers: RegExp;
  /** What was rewarded before. */
  first?: (user: string) => Fields;
  event: (user: string) => Fields;
}

describe('a refusal that time heals: explain says when, and then it passes', () => {
  const waiting: (Case & { leftMs: number })[] = [
    {
      reason: 'duplicate',
      check: 'duplicate',
      numbers: /accepted less than 1m ago/,
      first: (userEmail) => ({ eventType: 'form_submit', userEmail }),
      event: (userEmail) => ({ eventType: 'form_submit', userEmail }),
      leftMs: 60_000,
    },
    {
      reason: 'duplicate, with a cooldown after it',
      check: 'duplicate',
      numbers: /accepted less than 1m ago/,
      first: (userEmail) => ({ eventType: 'rate_experience', userEmail }),
      event: (userEmail) => ({ eventType: 'rate_experience', userEmail }),
      leftMs: 3_600_000,
    },
    {
      reason: 'cooldown',
      check: 'cooldown',
      numbers: /last reward 20\d\d-.*, 5\dm\d*s? of 1h left/,
      first: (userEmail) => ({ eventType: 'rate_experience', userEmail }),
      event: (userEmail) => ({ eventType: 'rate_experience', userEmail }),
      leftMs: 3_600_000 - 61_000,
    },
  ];
  test.each(waiting)('$reason', async ({ reason, check, numbers, first, event, leftMs }) => {
    const user = someone();
    expect((await service.event(first?.(user) ?? {})).status).toBe(200);
    if (reason === 'cooldown') await service.advance('61s');
    const refusal = await service.event(event(user));
    expect(refusal.status).toBeGreaterThanOrEqual(409);
    const id = refusal.headers.get('x-request-id') ?? '';

    const explained = await explain(id);
    expect(explained.check).toMatchObject({ name: check, text: expect.stringMatching(numbers) });
    expect(explained.check?.passesAt).toBe(refusal.body.details.retryAt);
    const passesAt = explained.event?.passesAt ?? '';
    expect(Math.abs(Date.parse(passesAt) - Date.parse(explained.body.at) - leftMs)).toBeLessThan(5_000);
    expect(explained.text).toContain(`passes every check at ${passesAt}, in `);
    expect(explained.text).toContain(`rewards clock advance --until ${id.slice(0, 12)}`);

    await succeeds('clock', 'advance', '--until', id.slice(0, 12));
    expect((await service.event(event(user))).status).toBe(200);
    // That time has come: once more changes nothing.
    await succeeds('clock', 'advance', '--until', `request:${id}`);
  });

  test('not a moment sooner', async () => {
    const userEmail = someone();
    const event = { eventType: 'rate_experience', userEmail };
    await service.event(event);
    const refusal = await service.event(event);
    const { event: explained } = await explain(refusal.headers.get('x-request-id') ?? '');
    await succeeds('clock', 'freeze');
    const before = new Date(Date.parse(explained?.passesAt ?? '') - 1).toISOString();
    await succeeds('clock', 'set', before);
    expect((await service.event(event)).status).toBe(429);
    await succeeds('clock', 'set', explained?.passesAt ?? '');
    expect((await service.event(event)).status).toBe(200);
    await succeeds('clock', 'run');
  });
});

describe('a refusal that waiting does not help: explain says what does', () => {
  const lasting: (Case & { or?: RegExp })[] = [
    {
      reason: 'field',
      check: 'fields',
      numbers: /userEmail/,
      event: () => ({ userEmail: 'nobody' }),
      or: /correct the named fields/,
    },
    {
      reason: 'brand',
      check: 'brand',
      numbers: /no brand is registered under 0x9{40}/,
      event: (userEmail) => ({ userEmail, brandId: `0x${'9'.repeat(40)}` }),
      or: /rewards brand list/,
    },
    {
      reason: 'domain',
      check: 'domain',
      numbers: /evil\.example is not demo\.example, nor under it/,
      event: (userEmail) => ({ userEmail, domain: 'evil.example' }),
      or: /brand's domain/,
    },
    {
      reason: 'event',
      check: 'event',
      numbers: /no active event no_such_event/,
      event: (userEmail) => ({ userEmail, eventType: 'no_such_event' }),
      or: /rewards brand show/,
    },
    {
      reason: 'channel',
      check: 'channel',
      numbers: /#general is not one of #support/,
      event: (userEmail) => ({
        userEmail,
        eventType: 'custom_support_answer',
        metadata: { channel_id: '#general' },
      }),
      or: /allowed channel/,
    },
    {
      reason: 'max_total_claims_reached',
      check: 'max_total_claims',
      numbers: /1 of 1 claims of all users used/,
      first: () => ({ userEmail: someone(), eventType: 'scarce', brandId: rich, domain: 'rich.example' }),
      event: (userEmail) => ({ userEmail, eventType: 'scarce', brandId: rich, domain: 'rich.example' }),
      or: /maxTotalClaims/,
    },
    {
      reason: 'insufficient_brand_balance',
      check: 'brand_funds',
      numbers: /0 RWT left in escrow, 10 needed/,
      event: (userEmail) => ({ userEmail, eventType: 'visit', brandId: poor, domain: 'poor.example' }),
      or: /rewards brand fund/,
    },
  ];
  test.each(lasting)('$reason', async ({ check, numbers, first, event, or }) => {
    if (first) expect((await service.event(first(''))).status).toBe(200);
    const refusal = await service.event(event(someone()));
    const id = refusal.headers.get('x-request-id') ?? '';
    const explained = await explain(id);
    expect(explained.check).toMatchObject({
      name: check,
      text: expect.stringMatching(numbers),
      passesAt: null,
    });
    if (or) expect(explained.check?.or).toMatch(or);
    expect(explained.event?.never?.check).toBe(check);
    expect(explained.text).toContain('never (waiting does not help)');

    const wait = await cliJson('clock', 'advance', '--until', id);
    expect(wait).toMatchObject({ code: exitCodes.refused, envelope: { error: { code: 'E_REFUSED' } } });
  });

  test('max claims, and a cooldown that has max claims behind it', async () => {
    const userEmail = someone();
    await service.event({ userEmail });
    await service.advance('61s');
    const cooling = await explain((await service.event({ userEmail })).headers.get('x-request-id') ?? '');
    expect(cooling).toMatchObject({
      check: { name: 'cooldown' },
      event: { passesAt: null, never: { check: 'max_claims', text: '1 of 1 claims used' } },
    });
    expect(cooling.text).toContain('then max claims refuses it: 1 of 1 claims used; waiting does not help');
    await service.advance('24h');
    const used = await explain((await service.event({ userEmail })).headers.get('x-request-id') ?? '');
    expect(used.check).toMatchObject({ name: 'max_claims', text: '1 of 1 claims used' });
  });

  test('automation that is off, switched on by the line it says', async () => {
    await succeeds('brand', 'set', rich, 'automation=off');
    const event = { userEmail: someone(), eventType: 'scarce', brandId: rich, domain: 'rich.example' };
    const explained = await explain((await service.event(event)).headers.get('x-request-id') ?? '');
    expect(explained.check?.name).toBe('automation');
    const [program, ...line] = (explained.check?.or ?? '').split(' ');
    expect(program).toBe('rewards');
    await succeeds(...line);
    expect((await service.event(event)).body.details.reason).not.toBe('automation_disabled');
  });

  test('bodies that are no event', async () => {
    const path = '/rewards-api/manual-event';
    const noJson = await service.post(path, 'not json');
    expect((await explain(noJson.headers.get('x-request-id') ?? '')).check?.name).toBe('body');
    const tooLarge = await service.post(path, { text: 'x'.repeat(11_000) });
    expect((await explain(tooLarge.headers.get('x-request-id') ?? '')).check).toMatchObject({
      name: 'body',
      text: 'more than 10240 bytes',
    });
  });
});

test('the table: every check in its order, those after the refusal named', async () => {
  const userEmail = someone();
  await service.event({ userEmail });
  await service.advance('61s');
  await service.event({ userEmail });
  const text = await succeeds('requests', 'explain', 'latest');
  const lines = text.split('\n');
  expect(lines[0]).toMatch(
    /^req_[0-9a-f]{8} {2}POST \/rewards-api\/manual-event {2}-> {2}429 Cooldown active$/,
  );
  expect(lines[1]).toMatch(/^ {3}1 {2}body {14}ok {7}\d+ of 10240 bytes, JSON$/);
  expect(text).toMatch(/ {2}10 {2}cooldown {10}REFUSED {2}last reward /);
  expect(text).toContain('not reached: max claims, max total claims, spend limit, brand funds');
  expect(text).toContain('metadata.skip_cooldown=true');
});

test('an event that named an alias: whose alias it is, when it was rewarded and when it was refused', async () => {
  const [user, id] = [someone(), '4242'];
  const alias = `wordpress_${id}@rewards.localhost`;
  await succeeds('brand', 'alias', service.brand.domain, alias, user);
  const aliasIn = async (request: string) => {
    const { envelope } = await cliJson('requests', 'explain', request);
    return envelope.data.body.explained[0].aliasOf;
  };
  const named = { userEmail: undefined, userIdentifier: { platform: 'wordpress', platformUserId: id } };
  const sent = [
    await service.event(named),
    await service.event(named),
    await service.event({ userEmail: user }),
  ];
  expect(sent.map(({ status }) => status)).toEqual([200, 409, 409]);
  const [paid = '', refused = '', byOwnName = ''] = sent.map(
    ({ headers }) => headers.get('x-request-id') ?? '',
  );
  expect([await aliasIn(paid), await aliasIn(refused), await aliasIn(byOwnName)]).toEqual([user, user, null]);
  for (const request of [paid, refused]) {
    const { stdout } = await cli('requests', 'explain', request);
    expect(stdout).toContain(`for ${alias}; ${alias} is an alias of ${user}`);
  }
});

test('several events in one request: each has its table', async () => {
  const userEmail = someone();
  const event = { brandId: service.brand.brandId, domain: 'demo.example', userEmail };
  const bulk = await service.post('/rewards-api/bulk-events', {
    events: [
      { ...event, eventType: 'form_submit' },
      { ...event, eventType: 'nothing' },
    ],
  });
  const id = bulk.headers.get('x-request-id') ?? '';
  const text = await succeeds('requests', 'explain', id);
  expect(text).toContain('event 1 of 2');
  expect(text).toMatch(/event 2 of 2[\s\S]*REFUSED {2}no active event nothing/);
  expect(await succeeds('requests', 'list', '--limit', '1')).toContain('1 of 2 events rewarded');
});

describe('send-event', () => {
  const send = (user: string, ...more: string[]) => [
    'send-event',
    ...['rate_experience', '--user', user, '--brand', service.brand.brandId, '--domain', 'demo.example'],
    ...more,
  ];
  test('prints the check that refused, with its numbers', async () => {
    const user = someone();
    await succeeds(...send(user));
    const refused = await cli(...send(user));
    expect(refused).toMatchObject({ code: exitCodes.refused, stdout: '' });
    expect(refused.stderr).toMatch(
      / {2}check {3}9 duplicate: event [0-9a-f-]{36} was accepted less than 1m ago/,
    );
    expect(refused.stderr).toMatch(/ {2}then {4}every check passes at 20\d\d.*, in (59m\d*s?|1h)/);
    expect(refused.stderr).toMatch(/ {2}more {4}rewards requests explain req_[0-9a-f]{8}\n/);
    const { envelope } = await cliJson(...send(user));
    expect(envelope.error.details).toMatchObject({
      reason: 'duplicate',
      check: { name: 'duplicate', outcome: 'refused' },
      passesAt: expect.stringMatching(/^20/),
    });
  });
});
