/** What is remembered of a request for a call, for `rewards requests explain`. */
import type { RelayOutcome } from '../../actions/relay/relay-transaction.ts';
import type { RelayHostRefusal, RelayRefusalBody } from '../../contract/relay/refusals.ts';
import type { Refuser } from '../frame/refuse.ts';
import type { RelayTrace } from '../frame/request-record.ts';

type RelayRefuser = Pick<Refuser<RelayHostRefusal>, 'reply'>;

/** A refusal in the words of its answer. */
export function refusalOf(
  refuser: RelayRefuser,
  refusal: RelayHostRefusal,
): NonNullable<RelayTrace['refusal']> {
  const { error: text, details } = refuser.reply(refusal).body as RelayRefusalBody;
  const { reason, retryAt } = details;
  return {
    code: refusal.code,
    text,
    ...(typeof reason === 'string' && { reason }),
    ...(typeof retryAt === 'string' && { passesAtMs: Date.parse(retryAt) }),
  };
}

/** `known` is what was known before the decision. */
export function traceOf(refuser: RelayRefuser, known: RelayTrace, outcome: RelayOutcome): RelayTrace {
  const { grounds, window } = outcome;
  const trace = { ...known, grounds, window };
  if ('relayed' in outcome)
    return { ...trace, decided: 'confirmed', transactionHash: outcome.relayed.hash ?? undefined };
  const { refusal } = outcome;
  return { ...trace, decided: refusal.code, refusal: refusalOf(refuser, refusal) };
}
