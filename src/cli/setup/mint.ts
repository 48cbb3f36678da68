/** `rewards mint`: of a paid checkout through payment-mint, or by hand for an account. */

import * as mints from '../../contract/control/mints.ts';
import { showSession } from '../../contract/control/processor.ts';
import type { Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import type { LedgerOptions } from '../machine/setting-options.ts';
import { withControl } from '../service/control.ts';
import { mustSucceed, replyResult } from '../service/control-reply.ts';
import { parseExpectation } from '../service/expectation.ts';
import { noteRequest, serviceResult } from '../service/service-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import { mintText, sessionMintText } from './mint-view.ts';

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

const mintByHand: Handler<HandMintOptions> = (context, { to, amount, reason, ...options }) =>
  withControl(context, options, async ({ call }) => {
    const reply = await call(mints.mintByHand, { body: { to, amount, reason } });
    return replyResult(reply, { text: mintText });
  });
