/** Whose results of brands' servers a block makes old: of those whose RWT it moved, or of everybody. */
import { encodeAbiParameters, encodeEventTopics, type Hex } from 'viem';
import { expect, test } from 'vitest';
import { rewardTokenAbi } from '../../src/chain/contracts/abis.ts';
import { forgetMoversResults } from '../../src/chain/indexer/book-logs.ts';
import type { Log } from '../../src/chain/rpc/client.ts';
import { beginQuestion } from '../../src/ledger/constraint-results.ts';
import { atMs } from '../../src/ledger/database/database.ts';
import { constraintResults } from '../../src/ledger/schema/engagement/constraints.ts';
import { freshAddress, freshHash, onEveryDatabase } from '../kits/databases/databases.ts';

onEveryDatabase(({ kit }) => {
  const db = () => kit().database.db;
  const token = `0x${'Ab'.repeat(20)}` as const;
  const log = (eventName: 'Transfer' | 'Approval', from: Hex, to: Hex, address: Hex): Log => {
    const args = eventName === 'Transfer' ? { from, to } : { owner: from, spender: to };
    return {
      topics: encodeEventTopics({ abi: rewardTokenAbi, eventName, args } as never) as Hex[],
      data: encodeAbiParameters([{ type: 'uint256' }], [5n]),
      address,
      logIndex: 0,
      transactionHash: freshHash(),
    };
  };
  /** Asks about these users, books the block, and tells whose results are left. */
  async function left(users: Hex[], contents: { logs: Log[]; isWhole: boolean }): Promise<Hex[]> {
    await db().delete(constraintResults);
    const brandId = freshAddress();
    for (const userAddress of users) {
      const question = { brandId, url: 'https://shop.example/check', userAddress, collectionId: 1 };
      await beginQuestion(db(), { ...question, askedBy: 'test', now: atMs(1), forMs: 1_000 });
    }
    await kit().database.atomically((tx) => forgetMoversResults(tx, { token, contents }));
    const rows = await db().select().from(constraintResults);
    const known = new Set(rows.map(({ userAddress }) => userAddress));
    return users.filter((user) => known.has(user));
  }
  const users = () => [freshAddress(), freshAddress(), freshAddress()] as const;

  test('sender and recipient are asked about again, and no other user', async () => {
    const [from, to, other] = users();
    const logs = [log('Transfer', from, to, token.toUpperCase().replace('0X', '0x') as Hex)];
    expect(await left([from, to, other], { logs, isWhole: true })).toEqual([other]);
  });

  test("another event of the token and a stranger's transfer move nothing", async () => {
    const [from, to, other] = users();
    const logs = [log('Approval', from, to, token), log('Transfer', from, to, freshAddress())];
    expect(await left([from, to, other], { logs, isWhole: true })).toEqual([from, to, other]);
  });

  test('of a block that was not read as a whole, anybody may have moved some', async () => {
    const [from, to, other] = users();
    expect(await left([from, to, other], { logs: [], isWhole: false })).toEqual([]);
    expect(await left([from, to, other], { logs: [], isWhole: true })).toEqual([from, to, other]);
  });
});
