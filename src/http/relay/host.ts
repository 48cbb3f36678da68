/** The relay host: routes only (contract: Endpoints). */
import type { Hono } from 'hono';
import type { createAddressGate } from '../../actions/admit-address.ts';
import type { AnswerOnceDeps } from '../../actions/answer-once.ts';
import type { createRelayTransaction } from '../../actions/relay/relay-transaction.ts';
import type { TokenVerifier } from '../../identity/tokens.ts';
import type { RateWindow } from '../../ledger/limits/rate-windows.ts';
import { createHostFrame, type HostFrameDeps } from '../frame/host-frame.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { relayApi } from '../openapi/relay-api.ts';
import type { RelayRefuser } from './refusals.ts';
import { relay, relayStatus } from './relay.ts';

export interface RelayHostDeps extends HostFrameDeps, AnswerOnceDeps {
  tokens: Pick<TokenVerifier, 'verify'>;
  admitAddress: ReturnType<typeof createAddressGate>;
  relayTransaction: ReturnType<typeof createRelayTransaction>;
  /** How far a user's limit is used up. */
  windowOf: (userAddress: `0x${string}`) => Promise<RateWindow>;
  refuser: RelayRefuser;
  settings: HostFrameDeps['settings'] & {
    /** Call data has no limit of its own. */
    bodyLimitBytes: number;
    /** Where people can look at transactions; `/tx/<hash>` is appended. */
    explorerUrl: string;
  };
}

export function createRelayHost(deps: RelayHostDeps): Hono<RequestVariables> {
  const { refuser, settings } = deps;
  return createHostFrame(deps, {
    refuse: (context, refusal) => refuser.answer(context, refusal),
    describe: () => relayApi({ serverUrl: '/', ...settings }),
    routes(app) {
      app.post('/relay', relay(deps));
      app.get('/relay/:hash', relayStatus(deps));
    },
  });
}
