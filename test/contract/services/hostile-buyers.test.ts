/** Buyers whose own code refuses the perk: they are told so at once, keep nothing back, and hold up nobody. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keccak256, toHex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { devPaths } from '../../../src/lib/development.ts';
import { SERVICE_CHAIN_ARGS, startAnvil } from '../../kits/chain/chain.ts';
import { devAccount } from '../../kits/chain/dev-accounts.ts';
import { hostileBuyers, refusals } from '../../kits/chain/hostile-buyers.ts';
import { perkCall } from '../../kits/chain/perks.ts';
import { personWith, redeemBody, redeemedOnChain, WALLPAPERS } from '../../kits/chain/redeeming.ts';
import { databaseKinds } from '../../kits/databases/databases.ts';
import { until } from '../../kits/service/clock.ts';
import { type Answer, startTestService, type TestService } from '../../kits/service/service.ts';

/** What the chain says of each way to refuse. */
const WORDS = [
  'reverted with 0x',
  'PerkSoldOut(1)??[2J)',
  'ERC1155InvalidReceiver(',
  'ERC1155InvalidReceiver(',
  'Panic(1)',
  'ERC1155InvalidReceiver(',
  'AccessControlUnauthorizedAccount(',
  'reverted with 0x00000000',
];
/** Two turns of the lane and more. */
const ATTACKERS = 70;
const BY_CODE = "the code of the user's wallet refuses it";

describe.each(databaseKinds)('hostile buyers (on $kind)', ({ open }) => {
  let service: TestService;
  let anvil: Awaited<ReturnType<typeof startAnvil>>;
  let dataDir: string;
  let database: Awaited<ReturnType<typeof open>>;
  let hostile: Awaited<ReturnType<typeof hostileBuyers>>;
  const start = async (redeem: { giveUpAfterMs?: number; giveUpLookMs?: number } = {}) => {
    const { databaseUrl } = database;
    service = await startTestService({
      dataDir,
      ephemeral: false,
      rpcUrl: anvil.url,
      engine: { redeem },
      ...(databaseUrl && { databaseUrl }),
    });
  };
  beforeAll(async () => {
    database = await open();
    dataDir = await mkdtemp(join(tmpdir(), 'rewards-hostile-'));
    // Wallets have code since that fork.
    anvil = await startAnvil([...SERVICE_CHAIN_ARGS.slice(2), '--hardfork', 'prague']);
    await start();
    hostile = await hostileBuyers(service);
  });
  afterAll(async () => {
    await service?.stop();
    await anvil?.stop();
    await database?.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  const redeem = (user: string, perkId: string) =>
    service.post('/perks/redeem', redeemBody(service, user, perkId));
  const role = (verb: 'grantRole' | 'revokeRole') => {
    const { address } = devAccount({ path: devPaths.redemption });
    return perkCall(service, verb, [keccak256(toHex('REDEEMER_ROLE')), address]);
  };
  const listed = async (query = '?waiting=true&limit=500') => {
    const { body } = await service.request(`${service.ready.urls.control}/redemptions${query}`);
    return body.redemptions as Record<string, string | number | null>[];
  };
  const whyOf = ({ status, body }: Answer) =>
    `${status} ${body.details?.reason ?? ''} ${body.details?.why ?? ''}`;

  test.each([...refusals.entries()])(
    'way %i to refuse, %s, is told at once, and nothing was debited',
    async (kind) => {
      const { email, wallet } = await hostile(kind, 60);
      const before = await service.balanceOf(wallet);
      const answer = await redeem(email, WALLPAPERS.id);
      expect(whyOf(answer)).toContain(`400 redemption_failed ${BY_CODE} (${WORDS[kind]}`);
      expect(await service.balanceOf(wallet)).toBe(before);
      // Their RWT is theirs again at once.
      const check = await service.post('/perks/check-eligibility', redeemBody(service, email, WALLPAPERS.id));
      expect(check.body).toMatchObject({ eligible: true, userBalance: Number(before) });
      expect(await listed()).toEqual([]);
    },
  );

  test('three of them take nothing of a stock of three', async () => {
    const added = await service.control('/perks', {
      brand: service.brand.domain,
      name: 'Last three',
      category: 'digital',
      cost: 50,
      stock: 3,
    });
    const perkId = added.body.id as string;
    const isOnChain = async () => {
      const { body } = await service.request(
        `${service.ready.urls.control}/perks?brand=${service.brand.domain}`,
      );
      return body.perks.some(
        (one: { id: string; terms: string }) => one.id === perkId && one.terms === 'on_chain',
      );
    };
    await until('the perk is on chain', isOnChain);
    for (const kind of [0, 5, 6]) {
      const { email } = await hostile(kind, 60);
      expect(whyOf(await redeem(email, perkId))).toContain(`400 redemption_failed ${BY_CODE} (`);
    }
    for (let one = 0; one < 3; one++) {
      const { email } = await personWith(service, 60);
      expect((await redeem(email, perkId)).status).toBe(200);
    }
    const { email } = await personWith(service, 60);
    expect(whyOf(await redeem(email, perkId))).toContain('400 perk_sold_out');
  });

  test(`${ATTACKERS} that ask at once, and wait over a restart behind a missing role, hold up nobody`, async () => {
    const attackers = await Promise.all(Array.from({ length: ATTACKERS }, (_, kind) => hostile(kind, 60)));
    const honest = await Promise.all(Array.from({ length: 5 }, () => personWith(service, 60)));
    await role('revokeRole');
    const asked = attackers.map(({ email }) => redeem(email, WALLPAPERS.id).catch(() => undefined));
    await until('all of them wait', async () => (await listed()).length === ATTACKERS);
    const last = honest.map(({ email }) => redeem(email, WALLPAPERS.id).catch(() => undefined));
    await until('everybody waits', async () => (await listed()).length === ATTACKERS + honest.length);
    // The contract's own words, whatever the buyers' code says.
    await until('all were refused', async () =>
      (await listed()).every(({ refusal }) => String(refusal).startsWith('AccessControlUnauthorizedAccount')),
    );
    await service.stop();
    await Promise.all([...asked, ...last]);
    await start();
    const before = (await redeemedOnChain(service)).perks.length;
    await role('grantRole');
    await until('nothing waits', async () => (await listed()).length === 0, 90_000);
    // A transaction carries them by now, which a block has to show.
    const redeemed = async () => (await redeemedOnChain(service)).perks.length - before;
    await until('a block shows theirs', async () => (await redeemed()) >= honest.length);
    expect(await redeemed()).toBe(honest.length);
    const failed = (await listed('?limit=500')).filter(({ user }) =>
      attackers.some(({ email }) => email === user),
    );
    expect(failed).toHaveLength(ATTACKERS);
    for (const { state, failure } of failed) {
      expect(state).toBe('failed');
      expect(String(failure)).toContain(BY_CODE);
    }
  });

  test('what waits for too long is given up, and its caller told; the operator drops one before', async () => {
    await service.stop();
    await start({ giveUpAfterMs: 8_000, giveUpLookMs: 100 });
    await role('revokeRole');
    const people = await Promise.all([personWith(service, 60), personWith(service, 60)]);
    const [first, second] = people.map(({ email }) => redeem(email, WALLPAPERS.id));
    await until('both wait', async () => (await listed()).length === 2);
    const [oldest] = await listed();
    const drop = () => service.control(`/redemptions/${oldest?.id}/drop`, {});
    expect((await drop()).body).toMatchObject({ state: 'failed', failure: 'dropped by the operator' });
    expect(await drop()).toMatchObject({
      status: 409,
      body: { details: { reason: 'redemption_not_waiting', state: 'failed' } },
    });
    const answers = (await Promise.all([first, second])) as Answer[];
    const whys = answers.map((one) => whyOf(one).trim()).sort();
    expect(whys).toEqual(['400 redemption_failed dropped by the operator', '503 redemption_expired']);
    expect(await listed()).toEqual([]);
    await role('grantRole');
    // Both have their RWT, and may ask again.
    for (const { email } of people) expect((await redeem(email, WALLPAPERS.id)).status).toBe(200);
    expect((await service.control('/redemptions/no-such/drop', {})).status).toBe(404);
  });
});
