/** RWT that an operator creates for a brand: recorded with a reason, minted once, and no difference in `verify`. */
import { createPublicClient, createWalletClient, type Hex, http, keccak256, toHex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { businessEscrowAbi, pointsSaleAbi, rewardTokenAbi } from '../../src/chain/contracts/abis.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { minedBy } from '../kits/chain/chain.ts';
import { devAccount } from '../kits/chain/dev-accounts.ts';
import { databaseKinds, postgresMissing, startPostgres } from '../kits/databases/databases.ts';
import { rewardsJson } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import { brandId, prepareLedger, startProduction, startProductionKit } from '../kits/service/production.ts';
import { someone, startTestService, type TestService } from '../kits/service/service.ts';

const poor = `0x${'2'.repeat(40)}` as const;

describe.each(databaseKinds)('on the emulator with $kind', ({ open }) => {
  let service: TestService;
  let stopDatabase: () => Promise<void>;
  beforeAll(async () => {
    const { databaseUrl, stop } = await open();
    stopDatabase = stop;
    service = await startTestService(databaseUrl ? { databaseUrl } : {});
  });
  afterAll(async () => {
    await service.stop();
    await stopDatabase();
  });
  const run = async (...args: string[]) => {
    const env = { REWARDS_CONTROL_TOKEN: service.ready.controlToken };
    const { envelope } = await rewardsJson([...args, '--target', service.ready.urls.events], { env });
    return envelope;
  };

  test('a brand that ran dry can pay again', async () => {
    await run('brand', 'create', poor, '--brand-name', 'Poor', '--domain', 'poor.example');
    await run(
      'brand',
      'rule',
      poor,
      'visit',
      '--reward',
      '60',
      '--cooldown',
      '0',
      '--max-claims',
      'unlimited',
    );
    const event = () =>
      service.event({ brandId: poor, domain: 'poor.example', eventType: 'visit', userEmail: someone() });
    const refused = await event();
    expect(refused.body.error).toBe('Insufficient brand balance');
    const explained = await service.request(
      `${service.ready.urls.control}/requests/${refused.headers.get('x-request-id')}`,
    );
    expect(JSON.stringify(explained.body)).toContain('rewards brand fund');
    const funded = await run('brand', 'fund', 'poor.example', '100');
    expect(funded.data.body).toMatchObject({ state: 'deposited', amount: 100, reason: 'funded by hand' });
    expect((await event()).status).toBe(200);
    expect((await run('verify')).data).toMatchObject({ ok: true, differences: [] });
  });

  test('RWT for an account is minted at once, and verify knows it', async () => {
    const account = `0x${'c3'.repeat(20)}`;
    const mint = (...args: string[]) => run('mint', '--to', account, '--amount', ...args);
    const minted = await mint('7');
    expect(minted.data.body).toMatchObject({
      state: 'minted',
      amount: 7,
      reason: 'minted by hand',
      failure: null,
    });
    expect(await service.balanceOf(account)).toBe(7n);
    expect((await run('verify')).data).toMatchObject({ ok: true, differences: [] });
    const refused = await mint('1.5', '--reason', ' ');
    expect(JSON.stringify(refused.error)).toMatch(/amount.*reason/);
  });

  test('a mint past the sale is no difference once it is recorded, with its very amount', async () => {
    const admin = devAccount({ addressIndex: 0 });
    const wallet = createWalletClient({ transport: http(service.ready.urls.rpc) });
    const token = { address: service.ready.contracts.token as Hex, abi: rewardTokenAbi };
    const by = { account: admin, chain: null } as const;
    const write = async (hash: Promise<Hex>) => minedBy(service.chain, await hash);
    const role = keccak256(toHex('MINTER_ROLE'));
    await write(
      wallet.writeContract({ ...token, ...by, functionName: 'grantRole', args: [role, admin.address] }),
    );
    await write(
      wallet.writeContract({ ...token, ...by, functionName: 'setMinterCap', args: [admin.address, 70n] }),
    );
    const escrow = service.ready.contracts.escrow as Hex;
    await write(wallet.writeContract({ ...token, ...by, functionName: 'approve', args: [escrow, 70n] }));
    const minted = await write(
      wallet.writeContract({ ...token, ...by, functionName: 'mint', args: [admin.address, 70n] }),
    );
    const deposited = await write(
      wallet.writeContract({
        ...by,
        address: escrow,
        abi: businessEscrowAbi,
        functionName: 'deposit',
        args: [service.brand.brandId as Hex, 70n],
      }),
    );
    await until('the deposit in the ledger', async () => {
      const { data } = await run('verify');
      return data.block >= Number(deposited.blockNumber);
    });
    const before = await run('verify');
    expect(before.data.differences).toMatchObject([
      { kind: 'token_supply', about: { transaction: minted.transactionHash } },
    ]);
    const hash = ['--transaction', minted.transactionHash, '--reason', 'before the sale was there'];
    const recorded = await run('brand', 'fund', service.brand.brandId, '70', ...hash);
    expect(recorded.data.body).toMatchObject({ state: 'recorded', key: minted.transactionHash });
    expect((await run('verify')).data).toMatchObject({ ok: true, differences: [] });
    const again = await run('brand', 'fund', service.brand.brandId, '70', ...hash);
    expect(JSON.stringify(again)).toContain('is recorded already');
  });

  test.each([
    [['0'], 'amount'],
    [['1.5'], 'amount'],
    [['5', '--reason', ' '], 'reason'],
    [['5', '--transaction', '0x12'], 'transaction'],
  ])('%j is refused, and nothing is minted', async (args, setting) => {
    const { ok, error } = await run('brand', 'fund', service.brand.brandId, ...args);
    expect(ok).toBe(false);
    expect(JSON.stringify(error)).toContain(setting);
  });
});

describe.skipIf(postgresMissing())('in production', () => {
  test('the running service mints it; what is printed, sent by an operator, mints nothing more, and verify knows it', async () => {
    const kit = await startProductionKit();
    const { url, stop } = await startPostgres();
    const database = openPostgres(url);
    await prepareLedger(database).finally(() => database.close());
    const service = await startProduction(kit.environment(url));
    try {
      const fund = (...args: string[]) =>
        rewardsJson(['brand', 'fund', 'shop.example', '5000', '--database-url', url, ...args]);
      const refused = await fund();
      expect(JSON.stringify(refused.envelope)).toContain('why RWT is created');
      const { envelope } = await fund('--reason', 'invoice 17');
      const { state, transaction } = envelope.data.body;
      expect(state).toBe('waiting');
      expect(transaction).toMatchObject({ chainId: 4242, to: kit.contracts.pointsSale });
      const transport = http(kit.anvil.url);
      const wallet = createWalletClient({ transport });
      const client = createPublicClient({ transport, pollingInterval: 20 });
      const { to, data } = transaction as { to: Hex; data: Hex };
      const escrow = { address: kit.contracts.escrow, abi: businessEscrowAbi } as const;
      const held = () => client.readContract({ ...escrow, functionName: 'balanceOf', args: [brandId] });
      await until('the mint on chain', async () => (await held()) === 1_005_000n);
      const { admin } = kit.accounts;
      const by = { account: admin, chain: null } as const;
      const role = {
        functionName: 'grantRole',
        args: [keccak256(toHex('OPERATOR_ROLE')), admin.address],
      } as const;
      await minedBy(client, await wallet.writeContract({ ...by, address: to, abi: pointsSaleAbi, ...role }));
      await minedBy(client, await wallet.sendTransaction({ ...by, to, data }));
      expect(await held()).toBe(1_005_000n);
      const account = `0x${'c3'.repeat(20)}` as const;
      const mint = (...args: string[]) =>
        rewardsJson(['mint', '--to', account, '--amount', '7', '--database-url', url, ...args]);
      expect(JSON.stringify((await mint()).envelope)).toContain('why RWT is created');
      const { envelope: byHand } = await mint('--reason', 'invoice 18');
      expect(byHand.data.body).toMatchObject({ state: 'waiting', amount: 7, reason: 'invoice 18' });
      const token = { address: kit.contracts.token, abi: rewardTokenAbi } as const;
      await until(
        'the mint to the account',
        async () =>
          (await client.readContract({ ...token, functionName: 'balanceOf', args: [account] })) === 7n,
      );
      const head = Number(await client.getBlockNumber());
      await until('the deposit in the ledger', async () => {
        const { envelope } = await rewardsJson(['verify'], { env: kit.environment(url) });
        return envelope.data.block >= head;
      });
      const { envelope: verified } = await rewardsJson(['verify'], { env: kit.environment(url) });
      expect(verified.data).toMatchObject({ ok: true, differences: [] });
    } finally {
      await service.stop();
      await stop();
      await kit.stop();
    }
  });
});
