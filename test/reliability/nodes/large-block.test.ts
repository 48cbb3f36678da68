/** A real block whose receipts are more than 10 MB, which a stranger makes for the price of 60 million gas. */
import Sqlite from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { fillWithLogs } from '../../kits/chain/large-block.ts';
import { rewardsJson } from '../../kits/service/cli.ts';
import { until } from '../../kits/service/clock.ts';
import { brandId, sqliteLedger, startProduction, startProductionKit } from '../../kits/service/production.ts';

vi.setConfig({ testTimeout: 240_000 });

test.each([
  ['read whole', '256', false],
  ['asked for in parts', '10', true],
])(
  '12 MB of receipts are %s; the payout beside them is booked, and a fresh process gets ready',
  async (_, answerMax, inParts) => {
    const kit = await startProductionKit(['--gas-limit', '100000000']);
    const ledger = await sqliteLedger(kit.folder, 'large-block');
    const env = kit.environment(ledger, {
      REWARDS_ALLOW_SQLITE: 'true',
      REWARDS_RPC_ANSWER_MAX: answerMax,
    });
    let service = await startProduction(env);
    try {
      await kit.rpc('evm_setAutomine', [false]);
      const paid = await service.event({ brandId, userEmail: 'large@shop.example' });
      expect(paid.status).toBe(200);
      await fillWithLogs(kit.rpc, 4);
      await until('all to wait for a block', async () => {
        const { pending } = (await kit.rpc('txpool_status', [])) as { pending: string };
        return Number(pending) === 5;
      });
      await kit.rpc('evm_mine', []);
      const head = await kit.rpc('eth_blockNumber', []);
      const { length } = JSON.stringify(await kit.rpc('eth_getBlockReceipts', [head]));
      expect(length).toBeGreaterThan(12_000_000);
      await until('the payout to be booked', async () => {
        const database = new Sqlite(ledger.slice('sqlite:'.length), { readonly: true });
        const [row] = database.prepare('select status, block_number from transactions').all() as {
          status: string;
          block_number: number;
        }[];
        database.close();
        return row?.status === 'included' && row.block_number === Number(head);
      });
      await service.stop();
      expect(service.log().includes('the receipts of a block are too many')).toBe(inParts);
      await kit.rpc('evm_setAutomine', [true]);
      service = await startProduction(env);
      expect(await service.admin('/readyz')).toMatchObject({ status: 200 });
      const next = await service.event({ brandId, userEmail: 'next@shop.example' });
      expect(next.status).toBe(200);
      await service.stop();
      const { envelope } = await rewardsJson(['verify'], { env });
      expect(envelope).toMatchObject({ ok: true, data: { differences: [] } });
    } finally {
      if (service.child.exitCode === null) await service.stop('SIGKILL');
      await kit.stop();
    }
  },
);
