/** Constraints on levels and roles in a brand's chat, and what their changes do to kept results. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds, type TestDatabase } from '../../kits/databases/databases.ts';
import { BRAND, perk, startConstraintsKit } from './kit.ts';

describe.each(databaseKinds)('levels and roles in a chat (on $kind)', ({ open }) => {
  let kit: Awaited<ReturnType<typeof startConstraintsKit>>;
  let database: TestDatabase;
  beforeAll(async () => {
    database = await open();
    kit = await startConstraintsKit(database);
  }, 60_000);
  afterAll(async () => {
    await kit?.stop();
    await database?.stop();
  });

  const stands = async (user: string, standing: Record<string, unknown>) => {
    const answer = await kit.control('/chat/standings', {
      brand: BRAND,
      platform: 'discord',
      user,
      ...standing,
    });
    expect(answer.status).toBe(200);
    return answer.body;
  };
  const missing = async (name: 'alice' | 'bob' | 'carol', token: bigint) => {
    const { status, body } = await kit.buy(kit.users[name], token);
    return status === 200 ? [] : body.details.missing.map(({ reason }: { reason: string }) => reason);
  };

  test('a level holds from its number on', async () => {
    expect(await missing('alice', perk.level)).toEqual(['chat_level_too_low']);
    await stands('alice@demo.example', { level: 4 });
    expect(await missing('alice', perk.level)).toEqual(['chat_level_too_low']);
    await stands('alice@demo.example', { level: 5 });
    expect(await missing('alice', perk.level)).toEqual([]);
  });

  test('a role holds while the user has it', async () => {
    expect(await missing('bob', perk.role)).toEqual(['chat_role_missing']);
    await stands('bob@demo.example', { roles: ['helper', 'moderator'] });
    expect(await missing('bob', perk.role)).toEqual([]);
    expect(await stands('bob@demo.example', { roles: [] })).toEqual({
      platform: 'discord',
      user: 'bob@demo.example',
      level: 0,
      roles: [],
    });
    expect(await missing('bob', perk.role)).toEqual(['chat_role_missing']);
  });

  test('constraints are joined by AND: everything that is missing is told', async () => {
    kit.says.body = { eligible: false };
    expect(await missing('carol', perk.both)).toEqual(['external_api_refused', 'chat_role_missing']);
    await stands('carol@demo.example', { roles: ['moderator'] });
    expect(await missing('carol', perk.both)).toEqual(['external_api_refused']);
    kit.says.body = { eligible: true };
    await kit.advance('61s');
    expect(await missing('carol', perk.both)).toEqual([]);
  });

  test('what is missing is told in words for the buyer', async () => {
    const messages = async (token: bigint) => {
      const { body } = await kit.buy(kit.users.bob, token);
      return body.details.missing.map(({ message }: { message: string }) => message);
    };
    await stands('bob@demo.example', { level: 4, roles: [] });
    expect(await messages(perk.level)).toEqual(['This perk is for level 5 on discord; yours is 4']);
    kit.says.body = { eligible: false };
    expect(await messages(perk.both)).toEqual([
      'The brand does not offer this perk to you',
      'This perk is for the role moderator on discord',
    ]);
    kit.says.body = { eligible: true };
    await kit.advance('61s');
  });

  test('a change invalidates what was kept about that user, at the look that comes every 5 minutes', async () => {
    // Not five minutes have passed so far: this brings one look, and once it has noticed carol's change the next is as
    // far away again.
    await missing('carol', perk.asksLonger);
    await stands('carol@demo.example', { level: 1 });
    kit.asked();
    await kit.advance('5m');
    await expect.poll(() => missing('carol', perk.asksLonger).then(() => kit.asked())).toBe(1);
    await missing('alice', perk.asksLonger);
    await missing('bob', perk.asksLonger);
    kit.asked();
    await stands('alice@demo.example', { roles: ['vip'] });
    expect(await missing('alice', perk.asksLonger)).toEqual([]);
    expect(kit.asked()).toBe(0);
    await kit.advance('5m');
    await expect
      .poll(
        async () => {
          await missing('alice', perk.asksLonger);
          return kit.asked();
        },
        { timeout: 20_000 },
      )
      .toBe(1);
    expect(await missing('bob', perk.asksLonger)).toEqual([]);
    expect(kit.asked()).toBe(0);
  });

  test.each<[Record<string, unknown>, string]>([
    [{ user: 'alice@demo.example' }, 'level or roles is required'],
    [{ user: 'alice@demo.example', level: -1 }, 'level must be a whole number from 0 to 1000000'],
    [
      { user: 'alice@demo.example', roles: 'vip' },
      'roles must be a list of at most 100 ids or names of roles',
    ],
    [{ user: 'alice@demo.example', level: 1, platform: 'irc' }, 'platform must be one of'],
    [{ level: 1 }, 'user is required'],
    [{ user: 'alice@demo.example', level: 1, more: 1 }, 'more is unknown'],
  ])('%j is refused with what is wrong', async (body, message) => {
    const answer = await kit.control('/chat/standings', { brand: BRAND, platform: 'discord', ...body });
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(message)]);
  });
});
