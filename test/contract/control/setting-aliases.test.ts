/** A rule's cooldown and limit by the contract's names for them, wherever settings are written. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FixtureError, parseFixture, problemText } from '../../../src/emulator/fixture/fixture.ts';
import { rewards, rewardsJson } from '../../kits/service/cli.ts';
import { someone, startTestService, type TestService } from '../../kits/service/service.ts';

describe('in a fixture', () => {
  const read = (rule: string) => {
    const lines = ['  - name: B', `    brandId: 0x${'ab'.repeat(20)}`, '    domains: [b.example]'];
    const text = ['brands:', ...lines, `    events: { visit: ${rule} }`].join('\n');
    try {
      return parseFixture([{ name: 'f.yaml', text }]).brands[0]?.rules[0];
    } catch (error) {
      if (error instanceof FixtureError) return error.problems.map(problemText);
      throw error;
    }
  };

  test.each([
    ['7d', '3', 604_800_000, 3],
    ['0', '-1', 0, -1],
    ['90s', '999999', 90_000, -1],
    ['24h', 'unlimited', 86_400_000, -1],
  ])('a cooldown_period of %s and max_claims_per_user of %s', (cooldown, claims, cooldownMs, maxClaims) => {
    const rule = read(`{ reward: 1, cooldown_period: ${cooldown}, max_claims_per_user: ${claims} }`);
    expect(rule).toMatchObject({ cooldownMs, maxClaims });
    expect(rule).toEqual(read(`{ reward: 1, cooldown: ${cooldown}, maxClaims: ${claims} }`));
  });

  test('neither is needed: a rule without them has the defaults', () => {
    expect(read('{ reward: 1 }')).toMatchObject({ cooldownMs: 86_400_000, maxClaims: 1 });
    expect(read('{ reward: 1, cooldown_period: 0 }')).toMatchObject({ cooldownMs: 0, maxClaims: 1 });
  });

  test.each([
    [
      'a number without a unit, which the contract does not name',
      '{ reward: 1, cooldown_period: 24 }',
      ['5:52', 'cooldown_period: must be a duration such as 500ms, 90s, 15m, 24h, 7d or 1h30m, or 0, not 24'],
    ],
    [
      'no claim at all',
      '{ reward: 1, max_claims_per_user: 0 }',
      [
        '5:56',
        'max_claims_per_user: must be a whole number, 1 or more, or unlimited (also -1 or 999999), not 0',
      ],
    ],
    [
      'both names at once',
      '{ reward: 1, cooldown: 1h, cooldown_period: 1h }',
      ['5:66', 'cooldown_period: is another name for cooldown, which is given too; leave one of them out'],
    ],
    [
      'both names of the limit, the usual one last',
      '{ reward: 1, max_claims_per_user: 2, maxClaims: 1 }',
      [
        '5:56',
        'max_claims_per_user: is another name for maxClaims, which is given too; leave one of them out',
      ],
    ],
    [
      'a misspelt name',
      '{ reward: 1, cooldown_perod: 1h }',
      ['5:35', 'cooldown_perod: is unknown; did you mean cooldown_period?'],
    ],
  ])('refused where it stands: %s', (_, rule, [place, problem]) => {
    expect(read(rule)).toEqual([`f.yaml:${place} brands[0].events.visit.${problem}`]);
  });
});

describe('of a running service', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service.stop());

  const setRule = (eventType: string, settings: Record<string, unknown>) =>
    service.change(`/brands/demo.example/rules/${eventType}`, settings);
  const rule = (...args: string[]) =>
    rewardsJson(['brand', 'rule', 'demo.example', ...args, '--target', service.ready.urls.events], {
      env: { REWARDS_CONTROL_TOKEN: service.ready.controlToken },
    });

  test('the control API takes them, shows the usual names, and the next event goes by them', async () => {
    const { status, body } = await setRule('custom_by_alias', {
      reward: 3,
      cooldown_period: 0,
      max_claims_per_user: 2,
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ reward: 3, cooldownMs: 0, maxClaims: 2 });
    expect(Object.keys(body).filter((name) => name.includes('_'))).toEqual([]);
    expect((await setRule('custom_by_alias', { max_claims_per_user: 999_999 })).body).toMatchObject({
      cooldownMs: 0,
      maxClaims: -1,
    });
    await setRule('custom_by_alias', { max_claims_per_user: 1 });
    const event = { eventType: 'custom_by_alias', userEmail: someone() };
    expect((await service.event(event)).status).toBe(200);
    await service.advance('61s');
    expect((await service.event(event)).status).toBe(429);
  });

  test.each([
    [
      { cooldown: '1h', cooldown_period: '1h' },
      'cooldown_period is another name for cooldown, which is given too; leave one of them out',
    ],
    [{ cooldown_period: 24 }, 'cooldown_period must be a duration'],
    [{ max_claims_per_user: 0 }, 'max_claims_per_user must be a whole number, 1 or more, or unlimited'],
    [{ 'cooldown_period.x': '1h' }, 'cooldown_period.x is not a setting of a rule'],
  ])('the control API refuses %j', async (settings, said) => {
    const { status, body } = await setRule('custom_refused', { reward: 1, ...settings });
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain(said);
  });

  test('the served document names them', async () => {
    const { body } = await service.request(`${service.ready.urls.control}/openapi.json`);
    const { description } = body.components.schemas.RuleSettings;
    expect(description).toContain('`cooldown_period` is another name for `cooldown`');
    expect(description).toContain('`max_claims_per_user` is another name for `maxClaims`');
  });

  test('the command line takes them as flags, which the help leaves out', async () => {
    const made = await rule('custom_by_flag', ...['--reward', '2', '--cooldown-period', '7d']);
    expect(made.envelope.data.body).toMatchObject({ reward: 2, cooldownMs: 604_800_000, maxClaims: 1 });
    const changed = await rule('custom_by_flag', '--max-claims-per-user', '-1');
    expect(changed.envelope.data.body).toMatchObject({ cooldownMs: 604_800_000, maxClaims: -1 });
    const both = await rule('custom_by_flag', '--max-claims', '2', '--max-claims-per-user', '3');
    expect(JSON.stringify(both.envelope)).toContain(
      'max_claims_per_user is another name for maxClaims, which is given too',
    );
    const removed = await rule('custom_by_flag', '--remove', '--cooldown-period', '1h');
    expect(JSON.stringify(removed.envelope)).toContain('exclude each other');
    const { stdout } = await rewards(['brand', 'rule', '--help']);
    expect(stdout).toContain('--max-claims <n>');
    expect(stdout).not.toContain('--max-claims-per-user');
  });
});
