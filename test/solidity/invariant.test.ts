/** Random histories against a model: who owns what, which sequences are paid, and that the escrow covers its brands. */
import fc from 'fast-check';
import { type Hex, keccak256, toHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Kit, people, startKit } from './kit.ts';

const brands = [people.brand, people.otherBrand, people.bob];
const users = [people.alice, people.stranger];

let kit: Kit;
beforeAll(async () => {
  kit = await startKit();
});
afterAll(() => kit?.anvil.stop());

const amount = fc.bigInt({ min: 0n, max: 300n });
const brand = fc.nat(brands.length - 1);
const user = fc.nat(users.length - 1);
const key = fc.nat(8);
const rewards = fc.array(fc.record({ sequence: fc.integer({ min: 240, max: 280 }), brand, user, amount }), {
  minLength: 1,
  maxLength: 8,
});
const step = fc.oneof(
  fc.record({ kind: fc.constant('mint' as const), brand, amount, key }),
  fc.record({ kind: fc.constant('redeem' as const), brand, user, amount, key }),
  fc.record({ kind: fc.constant('withdraw' as const), brand, amount }),
  fc.record({ kind: fc.constant('pay' as const), rewards }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** What the chain should hold. */
type Model = {
  escrow: bigint[];
  users: bigint[];
  withdrawn: bigint[];
  paid: Set<number>;
  minted: Set<number>;
  redeemed: Set<number>;
};

test('the contracts do what the model does, and the escrow always covers its brands', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      await kit.reset();
      await kit.letCollect(people.redeemer);
      const model: Model = {
        escrow: brands.map(() => 0n),
        users: users.map(() => 0n),
        withdrawn: brands.map(() => 0n),
        paid: new Set(),
        minted: new Set(),
        redeemed: new Set(),
      };
      for (const each of steps) {
        expect(await happens(each)).toBe(predict(model, each));
        expect(await chainState()).toEqual({
          escrow: model.escrow,
          users: model.users,
          withdrawn: model.withdrawn,
          held: sum(model.escrow),
          supply: sum([...model.escrow, ...model.users, ...model.withdrawn]),
          paidWords: [word(model.paid, 0), word(model.paid, 1)],
        });
      }
    }),
    { numRuns: 20 },
  );
}, 120_000);

/** Changes the model by one step; false when the call must revert. */
function predict(model: Model, each: Step): boolean {
  switch (each.kind) {
    case 'mint':
      if (model.minted.has(each.key)) return true;
      if (each.amount === 0n) return false;
      model.minted.add(each.key);
      add(model.escrow, each.brand, each.amount);
      return true;
    case 'redeem':
      if (model.redeemed.has(each.key)) return true;
      if (each.amount === 0n || each.amount > at(model.users, each.user)) return false;
      model.redeemed.add(each.key);
      add(model.users, each.user, -each.amount);
      add(model.escrow, each.brand, each.amount);
      return true;
    case 'withdraw':
      if (each.amount === 0n || each.amount > at(model.escrow, each.brand)) return false;
      add(model.escrow, each.brand, -each.amount);
      add(model.withdrawn, each.brand, each.amount);
      return true;
    case 'pay':
      for (const reward of inOrderOfBatch(each.rewards)) {
        const payable = reward.amount > 0n && reward.amount <= at(model.escrow, reward.brand);
        if (model.paid.has(reward.sequence) || !payable) continue;
        model.paid.add(reward.sequence);
        add(model.escrow, reward.brand, -reward.amount);
        add(model.users, reward.user, reward.amount);
      }
      return true;
  }
}

/** Does one step on chain; false when it reverts. */
async function happens(each: Step): Promise<boolean> {
  switch (each.kind) {
    case 'mint': {
      const call = [
        keccak256(toHex(`mint ${each.key}`)),
        at(brands, each.brand).address,
        each.amount,
      ] as const;
      return succeeds(kit.pointsSale.write.mintIntoEscrow(call, kit.by(people.operator)));
    }
    case 'redeem': {
      const [from, to] = [at(users, each.user).address, at(brands, each.brand).address];
      const call = [keccak256(toHex(`redeem ${each.key}`)), to, from, each.amount] as const;
      return succeeds(kit.escrow.write.redeem(call, kit.by(people.redeemer)));
    }
    case 'withdraw':
      return succeeds(kit.escrow.write.withdraw([each.amount], kit.by(at(brands, each.brand))));
    case 'pay':
      await kit.distribute(
        each.rewards.map((reward) => ({
          sequence: BigInt(reward.sequence),
          brandId: at(brands, reward.brand).address,
          to: at(users, reward.user).address,
          amount: reward.amount,
        })),
      );
      return true;
  }
}

async function succeeds(sending: Promise<Hex>): Promise<boolean> {
  const hash = await sending.catch(() => undefined);
  if (hash === undefined) return false;
  await kit.mined(Promise.resolve(hash));
  return true;
}

async function chainState() {
  const { token, escrow } = kit;
  const tokensOf = (address: Hex) => token.read.balanceOf([address]);
  return {
    escrow: await Promise.all(brands.map(({ address }) => escrow.read.balanceOf([address]))),
    users: await Promise.all(users.map(({ address }) => tokensOf(address))),
    withdrawn: await Promise.all(brands.map(({ address }) => tokensOf(address))),
    held: await tokensOf(escrow.address),
    supply: await token.read.totalSupply(),
    paidWords: await Promise.all([0n, 1n].map((index) => escrow.read.paidWord([index]))),
  };
}

/** The order in which a batch pays: brand by brand, and of a brand amount by amount, each in the order of its first reward. */
function inOrderOfBatch<T extends { brand: number; amount: bigint }>(list: readonly T[]): T[] {
  return grouped(list, ({ brand: of }) => of).flatMap((some) => grouped(some, (one) => one.amount).flat());
}

function grouped<T>(list: readonly T[], kindOf: (one: T) => unknown): T[][] {
  const kinds = [...new Set(list.map(kindOf))];
  return kinds.map((kind) => list.filter((one) => kindOf(one) === kind));
}

function word(paid: ReadonlySet<number>, index: number): bigint {
  return sum(
    [...paid].filter((sequence) => sequence >> 8 === index).map((sequence) => 1n << BigInt(sequence & 255)),
  );
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}

function add(list: bigint[], index: number, change: bigint) {
  list[index] = at(list, index) + change;
}

function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new Error(`no item ${index}`);
  return item;
}
