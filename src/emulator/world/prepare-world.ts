/** Builds what a fixture describes: contracts on chain, brands in the ledger, their money, gas wallets and perks. */
import type { GasKeys } from '../../chain/work/relay-lanes.ts';
import type { Facts } from '../../ledger/facts.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/ids.ts';
import type { Fixture } from '../fixture/fixture.ts';
import { seedLedger } from '../fixture/seed-ledger.ts';
import { openGasWallet } from './open-gas-wallet.ts';
import { openPerks } from './open-perks.ts';
import { aloneInSetup, fundBrands, type PrepareChainDeps, prepareContracts } from './prepare-chain.ts';

export interface WorldDeps extends PrepareChainDeps {
  /** Of the brands' gas wallets. */
  keys: GasKeys;
  clock: Clock;
  realClock: Clock;
  random: Random;
  wallets: { addressAt: (index: number) => `0x${string}` };
}

/** May run again: existing contracts and brands stay unchanged. `addresses` are the users' wallets, by e-mail. */
export async function prepareWorld(
  deps: WorldDeps,
  fixture: Fixture,
): Promise<{ facts: Facts['chain']; addresses: Map<string, `0x${string}`> }> {
  const { clock, random, wallets } = deps;
  return aloneInSetup({ ...deps, owner: random.uuid() }, async () => {
    const facts = await prepareContracts(deps);
    const { addresses } = await seedLedger(
      { ...deps, addressAt: wallets.addressAt },
      { fixture, nowMs: clock.now() },
    );
    const deposits = fixture.brands.map(({ brand, escrow }) => ({ brandId: brand.brandId, amount: escrow }));
    await fundBrands(deps, facts.contracts.pointsSale, deposits);
    const { perks } = facts.contracts;
    for (const { brandId } of deposits) await openGasWallet(deps, { brandId, perks, nowMs: clock.now() });
    const onSale = fixture.brands.flatMap(({ brand: { brandId }, perks: own }) =>
      own.map(({ tokenId, cost, stock }) => ({ brandId, tokenId, cost, stock })),
    );
    await openPerks(deps, perks, onSale);
    return { facts, addresses };
  });
}
