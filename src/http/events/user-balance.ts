/** GET and POST user-balance: what a user holds and has earned. */
import type { Context, Handler } from 'hono';
import type { UserBalance, WantedBalance } from '../../actions/wallets/read-balance.ts';
import { userBalanceQuestion } from '../../contract/events/user-balance.ts';
import { problemsOf } from '../../contract/shapes.ts';
import { checksummed } from '../../identity/checksum.ts';
import { jsonAnswer } from '../frame/answer.ts';
import { readJsonBody } from '../frame/body.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import type { EventsRefuser } from './refuser.ts';

export interface UserBalanceDeps {
  /** `actions/wallets/read-balance` with its deps bound. */
  readBalance: (wanted: WantedBalance) => Promise<UserBalance | undefined>;
  refuser: Pick<EventsRefuser, 'answer'>;
  settings: { bodyLimitBytes: number };
}

export function userBalance(deps: UserBalanceDeps): {
  get: Handler<RequestVariables>;
  post: Handler<RequestVariables>;
} {
  const { refuser, settings } = deps;

  const reply = async (context: Context, question: unknown) => {
    const parsed = userBalanceQuestion.safeParse(question);
    if (!parsed.success) {
      return refuser.answer(context, { code: 'invalid_event_data', errors: problemsOf(parsed.error) });
    }
    const { brandId, user, includeHistory, historyLimit } = parsed.data;
    const wanted = { brandId, ...user, historyLimit: includeHistory ? historyLimit : 0 };
    const known = await deps.readBalance(wanted);
    if (!known) return refuser.answer(context, { code: 'brand_not_found', brandId });
    const { balance, walletAddress, history } = known;
    const otherWallets = known.otherWallets.map((one) => ({
      walletAddress: checksummed(one.walletAddress),
      balance: Number(one.balance),
    }));
    return jsonAnswer(context, {
      success: true,
      balance: Number(balance),
      walletAddress: walletAddress ? checksummed(walletAddress) : null,
      ...(otherWallets.length > 0 && { otherWallets }),
      ...(includeHistory && { history }),
    });
  };

  return {
    get: (context) => reply(context, context.req.query()),
    async post(context) {
      const body = await readJsonBody(context.req.raw, settings.bodyLimitBytes);
      if ('refusal' in body) return refuser.answer(context, body.refusal);
      context.get('notes').body = body.text;
      return reply(context, body.value);
    },
  };
}
