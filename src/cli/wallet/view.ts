/** Wallets for people: user, address, registrations and balance. */
import type { ShownWallet } from '../../contract/control/users.ts';
import { isObject } from '../service/assignments.ts';
import type { Style } from '../terminal/style.ts';

/** `0x40FB…  new wallet of discord:123…  01a1…`. */
export function pregeneratedLine(body: unknown, user: string, style: Style): string {
  const { wallet_address, created_new, idp_user_id } = isObject(body) ? body : {};
  const what = created_new === true ? style.green('new wallet') : 'wallet';
  return `${style.bold(String(wallet_address))}  ${what} of ${user}  ${style.dim(String(idp_user_id))}`;
}

export function walletText(wallet: ShownWallet, style: Style): string {
  const row = (name: string, value: string) => `  ${style.dim(name.padEnd(10))}  ${value}`;
  return [
    style.bold(wallet.address),
    row('user', wallet.user),
    row('index', wallet.index === null ? 'none: the user brought this address' : String(wallet.index)),
    row('since', wallet.createdAt),
    ...wallet.identities.map(({ provider, providerUserId, username, idpUserId }) =>
      row(
        'registered',
        [`${provider}:${providerUserId}`, username, style.dim(idpUserId)].filter(Boolean).join('  '),
      ),
    ),
  ].join('\n');
}

/** `250 RWT  alice@demo.example  0x40FB…`. */
export function balanceLine(body: unknown, user: string, style: Style): string {
  const { balance, walletAddress } = isObject(body) ? body : {};
  const wallet = typeof walletAddress === 'string' ? walletAddress : 'no wallet yet';
  return `${style.bold(`${balance} RWT`)}  ${user}  ${style.dim(wallet)}`;
}
