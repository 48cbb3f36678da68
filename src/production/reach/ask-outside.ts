/** Asks what stands outside of service, ledger and chain: the identity provider and the payment processor. */
import { settings } from '../../compose/config.ts';
import { askProvider } from '../../identity/provider-keys.ts';
import { causeOf } from '../../lib/failures/root-cause.ts';
import { within } from '../../lib/timers.ts';
import type { PaymentProcessor } from '../../payments/processor.ts';
import type { StartConfig } from '../start-config.ts';
import { type Problem, problemOf } from '../start-errors.ts';
import { asksApi } from '../start-setting.ts';

/** Longer than a healthy provider takes; a person waits for the answer. */
const ANSWER_WITHIN_MS = 8_000;

/** Whether users' tokens could be verified: the issuer is who the settings say, and publishes usable keys. */
export async function askIssuer(
  config: Pick<StartConfig, 'workers' | 'identity' | 'identityIssuer' | 'identityJwksUrl'>,
): Promise<Problem[]> {
  const { identity, identityIssuer: issuer, identityJwksUrl: jwksUrl } = config;
  if (identity !== 'oidc' || issuer === undefined || !asksApi(config)) return [];
  const about = (what: string, error: unknown) =>
    problemOf('E_PROD_IDENTITY', { message: `${what}: ${causeOf(error)}` });
  const problems: Problem[] = [];
  const { fetch: limits } = settings.identity;
  await askProvider({ issuer, jwksUrl }, limits).catch((error: unknown) =>
    problems.push(
      about(
        jwksUrl === undefined ? `REWARDS_IDENTITY_ISSUER=${issuer}` : `REWARDS_IDENTITY_JWKS_URL=${jwksUrl}`,
        error,
      ),
    ),
  );
  return problems;
}

/** Whether the processor answers to this key. One of another mode, or withdrawn, is refused by it. */
export async function askProcessor(
  processor: PaymentProcessor | undefined,
  nowMs: number,
): Promise<Problem[]> {
  if (!processor) return [];
  const asked = async (): Promise<string | undefined> => {
    try {
      for await (const _ of processor.eventsSince(nowMs)) break;
      return undefined;
    } catch (error) {
      return causeOf(error);
    }
  };
  const answer = await within(
    ANSWER_WITHIN_MS,
    asked().then((cause) => ({ cause })),
  );
  const cause = answer ? answer.cause : `it has not answered after ${ANSWER_WITHIN_MS / 1_000} s`;
  return cause === undefined
    ? []
    : [problemOf('E_PROD_PAYMENTS', { message: `the payment processor cannot be asked: ${cause}` })];
}
