/** GET and POST user-balance: what a user holds and has earned. */
import type { Context, Handler } from 'hono';
import { readBalance } from '../../actions/wallets/read-balance.ts';
import { userBalanceQuestion } from '../../contract/events/user-balance.ts';
import { findBrand } from '../../ledger/brands/brands.ts';
import { readJsonBody } from '../frame/json-body.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import type { EventsHostDeps } from './host.ts';

export function userBalance(deps: EventsHostDeps): {
  get: Handler<RequestVariables>;
  post: Handler<RequestVariables>;
} {
  const { refuser, database, settings } = deps;

  const reply = async (context: Context, question: unknown) => {
    const parsed = userBalanceQuestion.safeParse(question);
    if (!parsed.success) {
      const errors = parsed.error.issues.map(
        ({ path, message }) => `${path.join('.') || 'body'}: ${message}`,
      );
      return refuser.answer(context, { code: 'invalid_event_data', errors });
    }
    const { brandId, user, includeHistory, historyLimit } = parsed.data;
    if (!(await findBrand(database.db, brandId)))
      return refuser.answer(context, { code: 'brand_not_found', brandId });
    const wanted = { brandId, ...user, historyLimit: includeHistory ? historyLimit : 0 };
    const { balance, walletAddress, history } = await readBalance(deps, wanted);
    return context.json({
      success: true,
      balance: Number(balance),
      walletAddress: walletAddress ?? null,
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
