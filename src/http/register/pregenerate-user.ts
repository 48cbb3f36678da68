/** POST pregenerate-user (contract: Endpoints, Pregenerated wallet). */
import type { Handler } from 'hono';
import { verifyBrandKey } from '../../actions/brands/verify-brand-key.ts';
import { pregenerateWallet } from '../../actions/wallets/pregenerate-wallet.ts';
import { type PregenerateResult, registrationObject } from '../../contract/register/pregenerate-user.ts';
import { readRegistration } from '../../rules/registration.ts';
import { readJsonBody } from '../frame/json-body.ts';
import { rateHeaders } from '../frame/rate-headers.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import type { RegisterHostDeps } from './host.ts';

export function pregenerateUser(deps: RegisterHostDeps): Handler<RequestVariables> {
  const { settings, refuser } = deps;
  return async (context) => {
    const body = await readJsonBody(context.req.raw, settings.bodyLimitBytes);
    if ('refusal' in body) {
      const { refusal } = body;
      if (refusal.code !== 'invalid_body' && refusal.code !== 'body_too_large') throw new Error(refusal.code);
      return refuser.answer(context, refusal);
    }
    context.get('notes').body = body.text;
    const fields = registrationObject.safeParse(body.value);
    if (!fields.success) {
      return refuser.answer(context, { code: 'invalid_body', problem: 'body: must be a JSON object' });
    }
    const read = readRegistration(fields.data, settings);
    if ('problem' in read) return refuser.answer(context, read.problem);
    const keyOf = await verifyBrandKey(deps, context.req.header('authorization'));
    const outcome = await pregenerateWallet(deps, { registration: read.registration, keyOf });
    if ('refusal' in outcome) return refuser.answer(context, outcome.refusal);
    const { walletAddress, idpUserId, createdNew, window } = outcome;
    for (const [name, value] of Object.entries(window ? rateHeaders(window) : {}))
      context.header(name, value);
    const answer: PregenerateResult = {
      success: true,
      wallet_address: walletAddress,
      idp_user_id: idpUserId,
      created_new: createdNew,
      message: createdNew ? 'Wallet created' : 'The user has this wallet already',
    };
    return context.json(answer);
  };
}
