/** RWT that operators create: what is refused, what the ledger keeps of it, and how far the answer says it has come. */
import { eq } from 'drizzle-orm';
import { getAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  fundBrand,
  type HandMintWish,
  type MintByHandDeps,
  mintByHand,
} from '../../src/actions/payments/mint-by-hand.ts';
import { operatorMintKey, saleMintData } from '../../src/chain/contracts/sale-mint.ts';
import { writeFact } from '../../src/ledger/facts.ts';
import { type OperatorMintProgress, readOperatorMints } from '../../src/ledger/payments/mints.ts';
import { operatorMints } from '../../src/ledger/schema/payments.ts';
import type { Hex } from '../../src/lib/hex.ts';
import { freshAddress, freshHash } from '../kits/databases/databases.ts';
import { openLedger, START_MS, someBrand, type TestLedger } from './ledger.ts';

const CHAIN_ID = 31_337;
/** With letters, so that they can be spelled in two ways. */
const contracts = {
  token: getAddress(`0x${'a1'.repeat(20)}`),
  escrow: getAddress(`0x${'b2'.repeat(20)}`),
  perks: getAddress(`0x${'c3'.repeat(20)}`),
  pointsSale: getAddress(`0x${'d4'.repeat(20)}`),
};
const waiting = { kind: 'wallet', amount: 7, reason: 'a gift' } as const;

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openLedger();
  await writeFact(ledger.database.db, 'chain', {
    chainId: CHAIN_ID,
    genesisHash: freshHash(),
    deploymentBlock: 1,
    contracts,
  });
});
afterAll(() => ledger.close());

const rowsFor = (recipient: Hex) =>
  ledger.database.db.select().from(operatorMints).where(eq(operatorMints.recipient, recipient));

/** A mint lane that is this far with every mint. `asked` are its nudges and waits, with how many mints were kept by then. */
function lane(progress: Partial<OperatorMintProgress> | undefined) {
  const asked: unknown[] = [];
  const mints: MintByHandDeps['mints'] = {
    nudge: () => void asked.push('nudge'),
    async waitForOperator(wait) {
      const [kept] = await readOperatorMints(ledger.database.db, [wait.key]);
      asked.push({ ...wait, isKept: kept !== undefined });
      return progress && kept && { ...kept, ...progress };
    },
  };
  return { mints, asked };
}

describe('a mint for an account', () => {
  const mint = (recipient: Hex, mints?: MintByHandDeps['mints']) =>
    mintByHand({ ...ledger, mints }, { ...waiting, recipient });

  test('is refused, and not kept, before the ledger belongs to a chain', async () => {
    const young = await openLedger();
    const recipient = freshAddress();
    expect(await mintByHand(young, { ...waiting, recipient })).toEqual({
      problems: [
        {
          setting: 'amount',
          message: 'the ledger belongs to no chain yet: start the service once, then mint',
        },
      ],
    });
    expect(await young.database.db.select().from(operatorMints)).toEqual([]);
    await young.close();
  });

  test.each<[Hex, string]>([
    [contracts.token, 'the token contract'],
    [contracts.escrow, 'the escrow contract'],
    [contracts.pointsSale, 'the pointsSale contract'],
    [`0x${'0'.repeat(40)}`, 'the address of nobody'],
  ])('is refused for %s, %s', async (address, whose) => {
    for (const recipient of [address, address.toLowerCase() as Hex]) {
      const message = `${recipient} is ${whose}: RWT there would belong to nobody`;
      expect(await mint(recipient)).toEqual({ problems: [{ setting: 'to', message }] });
      expect(await rowsFor(recipient)).toEqual([]);
    }
  });

  test('is kept with its reason; without a lane the answer has the transaction that mints it', async () => {
    const recipient = freshAddress();
    const minted = await mint(recipient);
    const [row] = await rowsFor(recipient);
    expect(row).toEqual({
      ...waiting,
      recipient,
      key: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      createdAt: START_MS,
      transactionId: null,
      failedTries: 0,
      failure: null,
      refusals: 0,
      nextTryAt: 0,
      refusal: null,
      shownHash: null,
      shownBlock: null,
    });
    const key = row?.key ?? '0x';
    const data = saleMintData({ ...waiting, recipient, key });
    expect(minted).toEqual({
      ...waiting,
      recipient,
      key,
      state: 'waiting',
      failure: null,
      hash: null,
      transaction: { chainId: CHAIN_ID, to: contracts.pointsSale, data },
    });
  });

  test('has a key of its own each time, made of a fresh id', async () => {
    const recipient = freshAddress();
    const drawn: string[] = [];
    const uuid = () => `id ${drawn.push('')}`;
    const random = { ...ledger.random, uuid };
    for (const n of [1, 2])
      expect(await mintByHand({ ...ledger, random }, { ...waiting, recipient })).toMatchObject({
        key: operatorMintKey(`id ${n}`),
      });
    expect(await rowsFor(recipient)).toHaveLength(2);
  });

  const hash = freshHash();
  test.each<[string, Partial<OperatorMintProgress> | undefined, object]>([
    ['nothing is known', undefined, { state: 'waiting', hash: null, failure: null }],
    [
      'nodes have it',
      { hash, status: 'sent', outcome: null },
      { state: 'waiting', hash, failure: null, transaction: expect.objectContaining({ chainId: CHAIN_ID }) },
    ],
    [
      'a block has it',
      { hash, status: 'included', outcome: 'done' },
      { state: 'minted', hash, failure: null, transaction: null },
    ],
    [
      'it had no effect',
      { hash, status: 'final', outcome: 'reverted' },
      { state: 'waiting', hash, failure: null, transaction: expect.objectContaining({ chainId: CHAIN_ID }) },
    ],
    [
      'it was given up',
      { hash: null, failure: 'Paused()' },
      { state: 'given_up', hash: null, failure: 'Paused()', transaction: null },
    ],
  ])('is waited for where a lane is near: %s', async (_, progress, answer) => {
    const { mints, asked } = lane(progress);
    const recipient = freshAddress();
    const minted = await mint(recipient, mints);
    expect(minted).toMatchObject({ ...waiting, recipient, ...answer });
    const key = 'key' in minted && minted.key;
    expect(asked).toEqual(['nudge', { key, timeoutMs: 10_000, isKept: true }]);
  });
});

describe('funds of a brand', () => {
  const wish = { amount: 300, reason: 'the first month' };
  const fund = (name: string, mints?: MintByHandDeps['mints']) => fundBrand({ ...ledger, mints }, name, wish);

  test('are refused for an unknown brand', async () => {
    const refusal = { code: 'brand_not_found', name: 'nobody.example' };
    expect(await fund('nobody.example')).toEqual({ refusal });
    expect(await fundBrand(ledger, 'nobody.example', { ...wish, transaction: freshHash() })).toEqual({
      refusal,
    });
  });

  test('wait with the transaction that brings them into its escrow', async () => {
    const { brandId, domain } = await someBrand(ledger);
    const { mints } = lane(undefined);
    const funding = await fund(domain, mints);
    const [row] = await rowsFor(brandId);
    const key = row?.key ?? '0x';
    expect(row).toMatchObject({ kind: 'escrow', ...wish });
    const mint: HandMintWish & { key: Hex } = { ...wish, kind: 'escrow', recipient: brandId, key };
    expect(funding).toEqual({
      ...wish,
      key,
      brandId,
      state: 'waiting',
      transaction: { chainId: CHAIN_ID, to: contracts.pointsSale, data: saleMintData(mint) },
    });
  });

  test('belong to a brand whatever its id: no account has to be able to use them', async () => {
    const recipient = contracts.token;
    const kept = await mintByHand(ledger, { ...wish, kind: 'escrow', recipient });
    expect(kept).toMatchObject({ ...wish, recipient, state: 'waiting' });
  });

  test('are there once a block shows them', async () => {
    const { brandId } = await someBrand(ledger);
    const { mints } = lane({ status: 'included', outcome: 'done', hash: freshHash() });
    expect(await fund(brandId, mints)).toEqual({
      ...wish,
      brandId,
      state: 'deposited',
      transaction: null,
      key: expect.stringMatching(/^0x/),
    });
  });

  test('that were given up are a fault, with what the chain said', async () => {
    const { brandId } = await someBrand(ledger);
    const { mints } = lane({ failure: 'Paused()' });
    await expect(fund(brandId, mints)).rejects.toThrow(
      `the mint into the escrow of ${brandId} was given up: Paused()`,
    );
  });

  test('are refused before the ledger belongs to a chain', async () => {
    const young = await openLedger();
    const { brandId } = await someBrand(young);
    expect(await fundBrand(young, brandId, wish)).toMatchObject({
      refusal: { code: 'invalid_settings', problems: [{ setting: 'amount' }] },
    });
    await young.close();
  });

  test('that came past the ledger are recorded once, however their transaction is spelled', async () => {
    const { brandId } = await someBrand(ledger);
    const transaction: Hex = `0x${'aB'.repeat(32)}`;
    const key: Hex = `0x${'ab'.repeat(32)}`;
    const { mints, asked } = lane(undefined);
    const record = (of: Hex, reason = wish.reason) =>
      fundBrand({ ...ledger, mints }, brandId, { ...wish, reason, transaction: of });
    const recorded = { ...wish, key, brandId, state: 'recorded', transaction: null };
    expect(await record(transaction)).toEqual(recorded);
    const message = `${key} is recorded already`;
    const problems = [{ setting: 'transaction', message }];
    expect(await record(key, 'again')).toEqual({ refusal: { code: 'invalid_settings', problems } });
    expect(await rowsFor(brandId)).toMatchObject([{ ...wish, key, kind: 'direct', createdAt: START_MS }]);
    // It is on chain already: the lane has nothing to send.
    expect(asked).toEqual([]);
  });
});
