/** `rewards mint`: of a paid checkout through payment-mint, or by hand for an account. */

import type { Funding, Mint } from '../../contract/control/mints.ts';
import * as mints from '../../contract/control/mints.ts';
import { showSession } from '../../contract/control/processor.ts';
import type { Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import type { LedgerOptions } from '../machine/shared-options.ts';
import { isObject } from '../service/assignments.ts';
import { asks } from '../service/control.ts';
import { mustSucceed } from '../service/control-reply.ts';
import { parseExpectation } from '../service/expectation.ts';
import { noteRequest, serviceResult } from '../service/service-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import type { Style } from '../terminal/style.ts';

type MintOptions = Omit<HandMintOptions, 'to' | 'amount'> & {
  session?: string;
  expect?: string;
  to?: string;
  amount?: string;
};

export const mint: Handler<MintOptions> = async (context, { session, expect, to, amount, ...options }) => {
  const byHand = to !== undefined || amount !== undefined || options.reason !== undefined;
  if (session !== undefined && byHand) {
    throw usageError(
      'A session and --to, --amount or --reason exclude each other.',
      'What a session mints is what was paid; leave the options out, or the session.',
    );
  }
  if (session !== undefined) return mintSession(context, { session, expect });
  if (expect !== undefined) {
    throw usageError('--expect goes with a session.', 'Name the session, or leave --expect out.');
  }
  if (to === undefined || amount === undefined) {
    throw usageError(
      to === undefined ? "missing required argument 'session', or --to <address>" : 'missing --amount <rwt>',
      '`rewards mint --help` shows both forms.',
    );
  }
  return mintByHand(context, { to, amount, ...options });
};

const mintSession: Handler<{ session: string; expect: string | undefined }> = async (
  context,
  { session, expect },
) => {
  const expected = expect === undefined ? undefined : parseExpectation(expect);
  const client = clientFor(await resolveTarget(context), context);
  const sessionId = session === 'latest' ? await latestSession(client) : session;
  const reply = await client.paymentMint(sessionId);
  noteRequest(context, reply);
  return serviceResult(reply, { expected, text: (style) => sessionMintText(reply.body, style) });
};

async function latestSession({ call }: ReturnType<typeof clientFor>): Promise<string> {
  const reply = await call(showSession, { path: { session: 'latest' } });
  mustSucceed(reply);
  return reply.body.id;
}

interface HandMintOptions extends LedgerOptions {
  to: string;
  amount: string;
  reason?: string;
}

const mintByHand = asks(mints.mintByHand, {
  request: ({ to, amount, reason }: HandMintOptions) => ({ body: { to, amount, reason } }),
  text: mintText,
});

export function mintText(mint: Mint, style: Style): string {
  const { state, amount, to, failure, transactionHash, transaction } = mint;
  const what = `${amount} RWT for ${to}`;
  if (state === 'given_up') return `${style.red('not minted')} ${what}: the points sale says ${failure}`;
  if (state === 'waiting') return waitingMintText({ what, transaction }, style);
  return [
    `${style.green('minted')} ${what}`,
    `  ${style.dim('transaction'.padEnd(12))} ${transactionHash ?? '-'}`,
  ].join('\n');
}

/** A mint that waits for a service with the key, and the call with which an operator can do it instead. */
export function waitingMintText(
  { what, transaction }: { what: string; transaction: Funding['transaction'] },
  style: Style,
): string {
  return [
    `${style.yellow('waiting')} ${what}; the reason is recorded`,
    'The running service mints it when it has a --mint-key-file. Another account can do it instead:',
    `  ${style.dim('chain'.padEnd(8))} ${transaction?.chainId ?? '-'}`,
    `  ${style.dim('from'.padEnd(8))} an account with OPERATOR_ROLE on the points sale, not the one of --mint-key-file`,
    `  ${style.dim('to'.padEnd(8))} ${transaction?.to ?? '-'}`,
    `  ${style.dim('data'.padEnd(8))} ${transaction?.data ?? '-'}`,
    'Sent twice, it mints once. The ledger has it when the service has read the block.',
  ].join('\n');
}

/** What payment-mint answered for a session that is paid. */
export function sessionMintText(body: unknown, style: Style): string {
  const { rwtAmount, walletAddress, txHash, usdAmount, alreadyProcessed } = isObject(body) ? body : {};
  const state = alreadyProcessed === true ? style.yellow('minted before') : style.green('minted');
  return [
    `${state} ${rwtAmount} RWT for ${walletAddress}, of ${usdAmount} dollars`,
    `  ${style.dim('transaction'.padEnd(12))} ${txHash}`,
  ].join('\n');
}
