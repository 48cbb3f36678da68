/** Whether the accounts that sign can pay for what they sign: their balances against one transaction. */
import { REDEMPTION_GAS_LIMIT } from '../chain/contracts/calls/perk-calls.ts';
import { payoutGasLimit } from '../chain/contracts/payout-batch.ts';
import { mintGasLimit } from '../chain/contracts/sale-mint.ts';
import { priceTransaction } from '../chain/lane/fees.ts';
import type { ChainClient } from '../chain/rpc/client.ts';
import { settings } from '../compose/config.ts';
import type { Queries } from '../ledger/database/database.ts';
import { listGasWallets } from '../ledger/relay/gas-wallets.ts';
import type { Hex } from '../lib/hex.ts';
import { dearestCallGas } from '../rules/relay-policy.ts';
import { feesOf, native } from './service-config.ts';
import type { StartConfig } from './start-config.ts';
import { type Problem, problemOf } from './start-errors.ts';

/** The accounts that sign, by the name of their key. */
export type SigningAccount = keyof StartConfig['keys'];

const smaller = (one: bigint, other: bigint) => (one < other ? one : other);
function larger(one: bigint, other: bigint): bigint {
  return one < other ? other : one;
}

/** Gas of the dearest transaction of each account: a full batch of one brand, in the words of the bitmap that it fills. */
const GAS_OF: Record<SigningAccount, bigint> = {
  payout: payoutGasLimit(settings.payout.batchMax, 1, 3),
  mint: larger(mintGasLimit('escrow'), mintGasLimit('wallet')),
  redemption: REDEMPTION_GAS_LIMIT,
  relay: BigInt(dearestCallGas),
};

/** What settings say of money, as the checks need it. */
export type MoneySettings = Pick<
  StartConfig,
  'feeCapGwei' | 'priorityFeeGwei' | 'offerMax' | 'gasLow' | 'gasFull'
>;

/** Whether the chain asks for more than may be offered: nothing would be sent. */
export async function checkPrice(
  chain: Pick<ChainClient, 'block'>,
  config: MoneySettings,
): Promise<Problem[]> {
  const baseFeeWei = (await chain.block('latest'))?.baseFeeWei ?? 0n;
  if (priceTransaction(baseFeeWei, feesOf(config))) return [];
  const message = `the chain asks ${inGwei(baseFeeWei)} gwei for a unit of gas, and REWARDS_FEE_CAP_GWEI is ${config.feeCapGwei}`;
  return [problemOf('E_PROD_FEE_CAP', { message })];
}

/**
 * Problems: an account cannot pay for its dearest transaction at today's price. Warnings: it could not at the fee cap, or
 * the relay account has less than the gas wallets of brands are to be filled up with.
 */
export async function checkGasMoney(
  deps: { chain: Pick<ChainClient, 'block' | 'balanceWei'>; db?: Queries | undefined },
  accounts: Partial<Record<SigningAccount, Hex | undefined>>,
  config: MoneySettings,
): Promise<{ problems: Problem[]; warnings: Problem[] }> {
  const baseFeeWei = (await deps.chain.block('latest'))?.baseFeeWei ?? 0n;
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  for (const [name, address] of Object.entries(accounts)) {
    if (!address) continue;
    const balanceWei = await deps.chain.balanceWei(address);
    const { nowWei, mostWei } = costOfOne(name as SigningAccount, baseFeeWei, config);
    const who = `the ${name} account ${address}`;
    if (balanceWei < nowWei)
      problems.push(tooLittle({ who, address, balanceWei, needsWei: nowWei, at: "at today's price" }));
    else if (balanceWei < mostWei)
      warnings.push(
        tooLittle({ who, address, balanceWei, needsWei: mostWei, at: 'at REWARDS_FEE_CAP_GWEI' }),
      );
    if (name === 'relay' && deps.db && balanceWei >= nowWei)
      warnings.push(...(await fillingUp({ ...deps, db: deps.db }, { address, balanceWei }, config)));
  }
  return { problems, warnings };
}

/** What the dearest transaction of an account offers for its gas: at today's price, and at the fee cap. */
export function costOfOne(
  name: SigningAccount,
  baseFeeWei: bigint,
  config: MoneySettings,
): { nowWei: bigint; mostWei: bigint } {
  const fees = feesOf(config);
  const price = priceTransaction(baseFeeWei, fees)?.maxFeePerGas ?? fees.feeCapWei;
  const most = (priceWei: bigint) =>
    name === 'payout' ? smaller(GAS_OF.payout * priceWei, native(config.offerMax)) : GAS_OF[name] * priceWei;
  return { nowWei: most(price), mostWei: most(fees.feeCapWei) };
}

/** A problem when the relay account has less than the gas wallets of brands that may send are to be filled up with. */
export async function fillingUp(
  { chain, db }: { chain: Pick<ChainClient, 'balanceWei'>; db: Queries },
  relay: { address: Hex; balanceWei: bigint },
  { gasLow, gasFull }: MoneySettings,
): Promise<Problem[]> {
  const wallets = (await listGasWallets(db)).filter(({ payer, ready }) => payer !== 'service' && ready);
  const balances = await Promise.all(wallets.map(({ address }) => chain.balanceWei(address)));
  const low = balances.filter((balanceWei) => balanceWei < native(gasLow));
  const neededWei = low.reduce((sum, balanceWei) => sum + native(gasFull) - balanceWei, 0n);
  if (neededWei <= relay.balanceWei) return [];
  return [
    tooLittle({
      who: `the relay account ${relay.address}`,
      address: relay.address,
      balanceWei: relay.balanceWei,
      needsWei: neededWei,
      at: `to fill up ${low.length} gas wallet${low.length === 1 ? '' : 's'} of brands`,
    }),
  ];
}

function tooLittle(of: {
  who: string;
  address: Hex;
  balanceWei: bigint;
  needsWei: bigint;
  at: string;
}): Problem {
  const { who, address, balanceWei, needsWei, at } = of;
  return problemOf('E_PROD_GAS_MONEY', {
    message: `${who} has ${inNative(balanceWei)} for gas, and ${/^to /.test(at) ? 'needs' : 'one transaction takes up to'} ${inNative(needsWei)} ${at}`,
    fix: `send at least ${inNative(needsWei - balanceWei)} in the chain's currency to ${address}`,
  });
}

const inGwei = (wei: bigint) => String(Number(wei) / 1e9);

/** In the chain's currency, rounded up to a billionth: what is sent must be enough. */
export function inNative(wei: bigint): string {
  const billionths = (wei + 999_999_999n) / 1_000_000_000n;
  const [whole, rest] = [billionths / 1_000_000_000n, billionths % 1_000_000_000n];
  const decimals = String(rest).padStart(9, '0').replace(/0+$/, '');
  return decimals ? `${whole}.${decimals}` : String(whole);
}
