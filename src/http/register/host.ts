/** The register host: routes only (contract: Endpoints). */
import type { Hono } from 'hono';
import type { PregenerateDeps } from '../../actions/wallets/pregenerate-wallet.ts';
import { createHostFrame, type HostFrameDeps } from '../frame/host-frame.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { registerApi } from '../openapi/register-api.ts';
import { pregenerateUser } from './pregenerate-user.ts';
import type { RegisterRefuser } from './refusals.ts';

export interface RegisterHostDeps extends HostFrameDeps, Pick<PregenerateDeps, 'addressAt' | 'limit'> {
  refuser: RegisterRefuser;
  settings: HostFrameDeps['settings'] & {
    /** Path in front of the host's endpoints. */
    apiPrefix: string;
    bodyLimitBytes: number;
    /** Host under which users of chat platforms get their stand-in e-mail. */
    ownDomain: string;
  };
}

export function createRegisterHost(deps: RegisterHostDeps): Hono<RequestVariables> {
  const { refuser, settings } = deps;
  return createHostFrame(deps, {
    refuse: (context, refusal) => refuser.answer(context, refusal),
    describe: () => registerApi({ serverUrl: '/', ...settings }),
    routes: (app) => app.post(`${settings.apiPrefix}/pregenerate-user`, pregenerateUser(deps)),
  });
}
