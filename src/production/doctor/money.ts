/** Tells what each account that signs has for gas, those that pay for brands' users among them, and how much to send where. */
import type { ChainClient } from '../../chain/rpc/client.ts';
import type { Queries } from '../../ledger/database/database.ts';
import { listGasWallets } from '../../ledger/relay/gas-wallets.ts';
import type { LanePurpose } from '../../ledger/schema/transactions.ts';
import { everyLane } from '../../ledger/transactions/backlog.ts';
import type { Hex } from '../../lib/hex.ts';
import { namesOf, type Setting } from '../../lib/setting.ts';
import { costOfOne, fillingUp, inNative, type MoneySettings, type SigningAccount } from '../gas-money.ts';
import { startSettings } from '../settings.ts';
import type { Observation } from './observation.ts';

const check = 'money';

/** Requests for balances that a node gets at once. */
const AT_ONCE = 20;

/** Which account sends for a lane; a lane of the emulator has none. */
const ACCOUNT_OF: Record<LanePurpose, SigningAccount | undefined> = {
  payout: 'payout',
  mint: 'mint',
  redeem: 'redemption',
  relay: 'relay',
  setup: undefined,
};

interface Account {
  address: Hex;
  name: SigningAccount;
  /** The brand whose users' calls it pays for; filled up by the service out of the relay account. */
  payer?: string | undefined;
}

/** What the settings say of money: the same values that a start would read, or their defaults where they say nothing. */
export function moneySettings(env: Readonly<Record<string, string>>): MoneySettings {
  const amount = (row: Setting<number>): number => {
    const standard = row.kind.parse(row.default ?? '') ?? 0;
    const given = env[namesOf(row).variable];
    return given === undefined ? standard : (row.kind.parse(given) ?? standard);
  };
  return {
    feeCapGwei: amount(startSettings.feeCapGwei),
    priorityFeeGwei: amount(startSettings.priorityFeeGwei),
    offerMax: amount(startSettings.offerMax),
    gasLow: amount(startSettings.gasLow),
    gasFull: amount(startSettings.gasFull),
  };
}

/** One line for each account; a problem where it cannot pay for its dearest transaction and is not filled up automatically. */
export async function lookAtMoney(
  deps: { db: Queries; chain: Pick<ChainClient, 'block' | 'balanceWei'> },
  /** The accounts whose keys the settings give, which may have signed nothing yet. */
  given: { name: SigningAccount; address: Hex }[],
  config: MoneySettings,
): Promise<Observation[]> {
  const accounts = await everyAccount(deps.db, given);
  if (accounts.length === 0) return [{ check, message: 'no account has signed anything yet' }];
  const baseFeeWei = (await deps.chain.block('latest'))?.baseFeeWei ?? 0n;
  const balances: bigint[] = [];
  for (let from = 0; from < accounts.length; from += AT_ONCE) {
    const some = accounts.slice(from, from + AT_ONCE);
    balances.push(...(await Promise.all(some.map(({ address }) => deps.chain.balanceWei(address)))));
  }
  const found: Observation[] = [];
  for (const [place, account] of accounts.entries()) {
    const balanceWei = balances[place] ?? 0n;
    const cost = costOfOne(account.name, baseFeeWei, config);
    found.push(
      account.payer === undefined ? own(account, balanceWei, cost) : ofBrand(account, balanceWei, config),
    );
    if (account.name === 'relay' && account.payer === undefined)
      for (const { message, fix } of await fillingUp(deps, { address: account.address, balanceWei }, config))
        found.push({ check, message, fix });
  }
  return found;
}

/** The keys of the settings, then what else the ledger knows to sign; each address once. */
async function everyAccount(db: Queries, given: Account[]): Promise<Account[]> {
  const wallets = await listGasWallets(db);
  const all = [
    ...given,
    ...wallets.map(
      ({ address, payer }): Account => ({
        address,
        name: 'relay',
        payer: payer === 'service' ? undefined : payer,
      }),
    ),
  ];
  for (const { address, purpose } of await everyLane(db)) {
    const name = ACCOUNT_OF[purpose];
    if (name) all.push({ address, name });
  }
  const byAddress = new Map<string, Account>();
  for (const one of all)
    if (!byAddress.has(one.address.toLowerCase())) byAddress.set(one.address.toLowerCase(), one);
  return [...byAddress.values()];
}

function own(
  { name, address }: Account,
  balanceWei: bigint,
  { nowWei, mostWei }: { nowWei: bigint; mostWei: bigint },
): Observation {
  const has = `the ${name} account ${address} has ${inNative(balanceWei)} for gas`;
  if (balanceWei < nowWei)
    return {
      check,
      message: `${has}, and one transaction takes up to ${inNative(nowWei)} at today's price`,
      fix: `send at least ${inNative(mostWei - balanceWei)} in the chain's currency to ${address}, which is enough at REWARDS_FEE_CAP_GWEI too`,
    };
  if (balanceWei < mostWei)
    return {
      check,
      message: `${has}; send ${inNative(mostWei - balanceWei)} more for one transaction at REWARDS_FEE_CAP_GWEI`,
    };
  return { check, message: has };
}

function ofBrand(
  { payer, address }: Account,
  balanceWei: bigint,
  { gasLow, gasFull }: MoneySettings,
): Observation {
  const has = `the gas wallet ${address} of brand ${payer} has ${inNative(balanceWei)}`;
  const isLow = Number(balanceWei) / 1e18 < gasLow;
  return {
    check,
    message: isLow ? `${has}; the service fills it up to ${gasFull} out of the relay account` : has,
  };
}
