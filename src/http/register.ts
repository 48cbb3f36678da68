/** The register host and its endpoint, POST pregenerate-user (contract: Endpoints, Pregenerated wallet). */
import type { Handler, Hono } from 'hono';
import type {
  PregeneratedWallet,
  PregenerateRefusal,
  WantedWallet,
} from '../actions/wallets/pregenerate-wallet.ts';
import { registerHostContract } from '../contract/register/host.ts';
import { type PregenerateResult, registrationObject } from '../contract/register/pregenerate-user.ts';
import type { RegisterRefusal } from '../contract/register/refusals.ts';
import { OBJECT_PROBLEM } from '../contract/shapes.ts';
import { readRegistration } from '../rules/registration.ts';
import { type AddressGateDeps, addressGate } from './frame/address-gate.ts';
import { jsonAnswer, setRateHeaders } from './frame/answer.ts';
import { readJsonBody } from './frame/body.ts';
import { type BrandKeyDeps, brandOfKey } from './frame/brand-key.ts';
import { clientAddress, countedAddress, forwardedFacts, type ProxyTrust } from './frame/client-address.ts';
import { createHostFrame, type HostFrameDeps } from './frame/host-frame.ts';
import type { Refuser } from './frame/refuse.ts';
import type { RequestVariables } from './frame/request-record.ts';

type RegisterHostDeps = HostFrameDeps & AddressGateDeps & PregenerateUserDeps;

export function createRegisterHost(deps: RegisterHostDeps): Hono<RequestVariables> {
  return createHostFrame(deps, {
    name: 'register',
    contract: registerHostContract,
    refuse: deps.refuser.answer,
    gate: addressGate(deps, deps.refuser.answer),
    handlers: { pregenerateUser: pregenerateUser(deps) },
  });
}

interface PregenerateUserDeps extends BrandKeyDeps {
  /** `actions/wallets/pregenerate-wallet` with its deps bound. */
  pregenerateWallet: (wanted: WantedWallet) => Promise<PregeneratedWallet | { refusal: PregenerateRefusal }>;
  proxies: ProxyTrust;
  refuser: Refuser<RegisterRefusal>;
  settings: {
    bodyLimitBytes: number;
    /** Domain under which users of chat platforms get their stand-in e-mail. */
    ownDomain: string;
  };
}

/** POST pregenerate-user (contract: Endpoints, Pregenerated wallet). */
function pregenerateUser(deps: PregenerateUserDeps): Handler<RequestVariables> {
  const { settings, refuser } = deps;
  return async (context) => {
    const body = await readJsonBody(context.req.raw, settings.bodyLimitBytes);
    if ('refusal' in body) return refuser.answer(context, body.refusal);
    context.get('notes').body = body.text;
    const fields = registrationObject.safeParse(body.value);
    if (!fields.success) {
      return refuser.answer(context, { code: 'invalid_body', problem: `body: ${OBJECT_PROBLEM}` });
    }
    const read = readRegistration(fields.data, settings);
    if ('problem' in read) return refuser.answer(context, read.problem);
    const keyOf = await brandOfKey(deps, context);
    const outcome = await deps.pregenerateWallet({
      registration: read.registration,
      keyOf,
      origin: context.req.header('origin'),
      address: countedAddress(clientAddress(forwardedFacts(context), deps.proxies)),
    });
    if ('refusal' in outcome) return refuser.answer(context, outcome.refusal);
    const { walletAddress, idpUserId, createdNew, window } = outcome;
    if (window) setRateHeaders(context, window);
    const answer: PregenerateResult = {
      success: true,
      wallet_address: walletAddress,
      idp_user_id: idpUserId,
      created_new: createdNew,
      message: createdNew ? 'Wallet created' : 'The user has this wallet already',
    };
    return jsonAnswer(context, answer);
  };
}
