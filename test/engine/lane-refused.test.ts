/** A lane whose bytes nodes refuse, or do not answer for: what it offers again, for how much, and what it says of it. */
import { expect, test } from 'vitest';
import type { SendOutcome } from '../../src/chain/rpc/send-outcome.ts';
import { onEveryDatabase } from '../kits/databases/databases.ts';
import { ACCEPTED, GWEI, refused, startLane, UNKNOWN } from './lane-kit.ts';

onEveryDatabase(({ kit }) => {
  const start = (more?: Parameters<typeof startLane>[1]) => startLane(kit().database, more);

  test('bytes without an answer keep their price; those that a node calls too cheap do not', async () => {
    const { world, turn } = start();
    world.work = 1;
    world.answers = [UNKNOWN, UNKNOWN, UNKNOWN];
    expect(await turn()).toEqual(['idle', '0: 21 1']);
    expect(await turn(6_000)).toEqual(['idle', '0: 21 1']);
    world.answers = [refused('fee_too_low')];
    expect(await turn(1)).toEqual(['worked', '0: 21 1', '0: 23 1']);
  });

  test.each<[string, SendOutcome, string]>([
    ['an account without gas money', refused('insufficient_gas_money'), 'gas_money_low'],
    ['bytes that are no transaction', refused('malformed'), 'transaction_malformed'],
  ])('%s is an alarm', async (_, answer, code) => {
    const { world, turn, alarms, facts } = start();
    world.work = 1;
    world.answers = [answer];
    await turn();
    expect([alarms(), facts()]).toEqual([[code], { nonce: 0 }]);
    await turn();
    expect(alarms()).toEqual(code === 'gas_money_low' ? [] : [code]);
  });

  test('bytes that every node refused are replaced by a lower offer once gas is an eighth cheaper', async () => {
    const { world, turn, open } = start();
    world.work = 1;
    world.answers = [refused('over_node_cap'), refused('over_node_cap'), refused('over_node_cap')];
    expect(await turn()).toEqual(['idle', '0: 21 1']);
    expect(await open()).toMatchObject([{ refused: true }]);
    // Twice the base fee and a gwei: an eighth less than 21 gwei.
    world.baseFeeWei = 8_687_500_001n;
    expect(await turn()).toEqual(['idle', '0: 21 1']);
    world.baseFeeWei = 8_687_500_000n;
    expect(await turn()).toEqual(['worked', '0: 21 1', '0: 18 1']);
    expect(await open()).toMatchObject([{ refused: false, maxFeeWei: 18_375_000_000n }]);
  });

  test('bytes that a node took are no cheaper for cheaper gas: they are offered again, and for more', async () => {
    const { world, turn } = start();
    world.work = 1;
    await turn();
    world.baseFeeWei = GWEI;
    expect(await turn(1_000)).toEqual(['idle', '0: 21 1']);
    expect(await turn(4_000)).toEqual(['worked', '0: 23 1']);
  });

  test('a replacement without an answer is offered again at the next turn', async () => {
    const { world, turn } = start();
    world.work = 1;
    await turn();
    world.answers = [UNKNOWN];
    expect(await turn(5_000)).toEqual(['worked', '0: 23 1']);
    expect(await turn()).toEqual(['idle', '0: 23 1']);
    expect(await turn()).toEqual(['idle']);
  });

  test.each<SendOutcome>([{ kind: 'known' }, { kind: 'nonce_used' }])(
    'bytes of which a node says %j need not be offered again',
    async (answer) => {
      const { world, turn } = start();
      world.work = 1;
      world.answers = [answer];
      expect(await turn()).toEqual(['worked', '0: 21 1']);
      expect(await turn()).toEqual(['idle']);
    },
  );

  test('bytes that were refused for another reason than their price keep it', async () => {
    const { world, turn } = start();
    world.work = 1;
    world.answers = [refused('pool_full'), refused('pool_full')];
    expect(await turn()).toEqual(['idle', '0: 21 1']);
    expect(await turn(6_000)).toEqual(['idle', '0: 21 1']);
  });

  test('refused bytes of which a node may know since are told so in the ledger before anybody reads it', async () => {
    const { world, turn, open } = start();
    world.work = 1;
    world.answers = [refused('over_node_cap'), UNKNOWN];
    await turn();
    expect(await open()).toMatchObject([{ refused: true }]);
    await turn();
    expect(await open()).toMatchObject([{ refused: false }]);
  });

  test('nor while a node may have an earlier offer of the same nonce', async () => {
    const { world, turn, open } = start();
    world.work = 1;
    await turn();
    world.answers = [refused('over_node_cap'), refused('over_node_cap'), refused('over_node_cap')];
    expect(await turn(5_000)).toEqual(['worked', '0: 23 1']);
    expect(await open()).toMatchObject([{ refused: true }]);
    world.baseFeeWei = 1n * GWEI;
    expect(await turn()).toEqual(['idle', '0: 23 1']);
    expect(await turn()).toEqual(['idle', '0: 23 1']);
    expect(await open()).toHaveLength(1);
  });

  test.each<[string, SendOutcome[]]>([
    ['a node gave no answer', [refused('over_node_cap', false)]],
    ['an earlier offer had no answer', [UNKNOWN, refused('over_node_cap')]],
    ['a node took them', [ACCEPTED, refused('over_node_cap')]],
  ])('they are not, when %s', async (_, answers) => {
    const { world, turn, open, lane } = start();
    world.work = 1;
    for (const answer of answers) {
      world.answers = [answer];
      await turn(1_000);
    }
    expect(await open()).toMatchObject([{ refused: false }]);
    // Nor by a process that reads them from the ledger.
    lane.reload();
    world.baseFeeWei = 1n * GWEI;
    world.answers = [refused('over_node_cap')];
    expect((await turn()).slice(1)).toEqual(['0: 21 1']);
  });
});
