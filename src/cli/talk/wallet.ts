/** `rewards wallet pregenerate|show|balance`. */

import { accountIn, registrationOf } from '../../client/person.ts';
import type { ShownWallet } from '../../contract/control/users.ts';
import * as users from '../../contract/control/users.ts';
import type { Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import { keyHeader } from '../machine/read-input.ts';
import { isObject } from '../service/assignments.ts';
import { asks } from '../service/control.ts';
import { refusalOf } from '../service/control-reply.ts';
import { parseExpectation } from '../service/expectation.ts';
import { demandBrand } from '../service/named-brand.ts';
import { noteRequest, serviceResult } from '../service/service-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import type { Style } from '../terminal/style.ts';

export const pregenerateWallet: Handler<{
  user: string;
  username?: string;
  brand?: string;
  apiKeyFile?: string;
  expect?: string;
}> = async (context, wish) => {
  const expected = wish.expect === undefined ? undefined : parseExpectation(wish.expect);
  const target = await resolveTarget(context);
  const { brandId } = await demandBrand(context, target, wish.brand);
  const body = { brand_id: brandId, ...registered(wish) };
  const headers = await keyHeader(context.runtime, wish.apiKeyFile);
  const reply = await clientFor(target, context).pregenerate(body, { headers });
  noteRequest(context, reply);
  return serviceResult(reply, { expected, text: (style) => pregeneratedLine(reply.body, wish.user, style) });
};

export const showWallet = asks(users.showWallet, {
  request: ({ user }: { user: string }) => ({ path: { user } }),
  text: walletText,
});

export const walletBalance: Handler<{ user: string; brand?: string }> = async (context, { user, brand }) => {
  const target = await resolveTarget(context);
  const client = clientFor(target, context);
  const { brandId } = await demandBrand(context, target, brand);
  let userIdentifier = user;
  if (accountIn(user)) {
    // The emulator looks up the wallet of an account; the service itself knows e-mails and addresses only.
    const known = await client.call(users.showWallet, { path: { user } });
    const refusal = refusalOf(known);
    if (refusal) return { ok: false, error: refusal, data: known.body };
    userIdentifier = known.body.address;
  }
  const reply = await client.balance({ brandId, userIdentifier });
  return serviceResult(reply, { text: (style) => balanceLine(reply.body, user, style) });
};

/** On a platform every user has a name: their id where none is given. */
function registered({ user, username }: { user: string; username?: string }): Record<string, string> {
  const account = accountIn(user);
  if (account || username === undefined) return registrationOf(user, username ?? account?.id);
  throw usageError(
    '--username goes with an account on a platform, not with an e-mail.',
    'Name the account as <platform>:<id>, or leave --username out.',
  );
}

/** `0x40FB…  new wallet of discord:123…  01a1…`. */
function pregeneratedLine(body: unknown, user: string, style: Style): string {
  const { wallet_address, created_new, idp_user_id } = isObject(body) ? body : {};
  const what = created_new === true ? style.green('new wallet') : 'wallet';
  return `${style.bold(String(wallet_address))}  ${what} of ${user}  ${style.dim(String(idp_user_id))}`;
}

function walletText(wallet: ShownWallet, style: Style): string {
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
function balanceLine(body: unknown, user: string, style: Style): string {
  const { balance, walletAddress } = isObject(body) ? body : {};
  const wallet = typeof walletAddress === 'string' ? walletAddress : 'no wallet yet';
  return `${style.bold(`${balance} RWT`)}  ${user}  ${style.dim(wallet)}`;
}
