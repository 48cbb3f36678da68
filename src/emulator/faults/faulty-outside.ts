/** Strangers as the service reaches them, failing while a fault is set: brands' servers, DNS, the identity provider. */
import type { TxtResolver } from '../../dns/txt.ts';
import type { TokenVerifier } from '../../identity/tokens.ts';
import { delay } from '../../lib/timers.ts';
import type { Answered, AskDeps } from '../../outgoing/ask.ts';
import type { FaultRegistry } from './fault-registry.ts';

type Faults = Pick<FaultRegistry, 'strike'>;

const REFUSED: Answered = { outcome: 'failed', why: 'the connection was refused', ms: 0 };

/** A webhook and a question about a buyer are told apart by what the service calls itself. */
export function faultyReceivers(outgoing: AskDeps, faults: Faults): AskDeps {
  return {
    ...outgoing,
    through: (asked, send) =>
      asked.headers['user-agent']?.startsWith('Rewards-Webhooks/')
        ? faultyDelivery(faults, { send, totalMs: asked.limits.totalMs })
        : faultyQuestion(faults, { send, totalMs: asked.limits.totalMs }),
  };
}

interface Question {
  send: () => Promise<Answered>;
  totalMs: number;
}

async function faultyDelivery(faults: Faults, { send, totalMs }: Question): Promise<Answered> {
  const struck = faults.strike('receiver', ['away', '500', '410', 'hang', 'answer-lost']);
  switch (struck?.effect) {
    case 'away':
      return REFUSED;
    case '500':
    case '410':
      return answeredWith(Number(struck.effect));
    case 'hang':
      await send();
      await delay(totalMs);
      return late(totalMs);
    case 'answer-lost':
      await send();
      return { outcome: 'failed', why: 'the connection was closed before an answer came', ms: 0 };
    default:
      return send();
  }
}

async function faultyQuestion(faults: Faults, { send, totalMs }: Question): Promise<Answered> {
  const slowMs = faults.strike('constraint-api', ['slow'])?.amount ?? 0;
  if (slowMs > 0) await delay(Math.min(slowMs, totalMs));
  if (slowMs >= totalMs) return late(totalMs);
  const struck = faults.strike('constraint-api', ['away', '500']);
  if (!struck) return send();
  return struck.effect === 'away' ? REFUSED : answeredWith(500);
}

const late = (totalMs: number): Answered => ({
  outcome: 'failed',
  why: `no answer within ${totalMs / 1_000} s`,
  ms: totalMs,
});

const answeredWith = (status: number): Answered => ({
  outcome: 'answered',
  status,
  headers: {},
  isComplete: true,
  ms: 0,
  body: new TextEncoder().encode(`${status} by a fault that is set`),
});

/** `limitMs`: how long the service's own resolver waits. */
export const faultyDns = (
  dns: TxtResolver,
  faults: Faults,
  { limitMs }: { limitMs: number },
): TxtResolver => ({
  async txtRecords(name) {
    const slowMs = faults.strike('dns', ['slow'])?.amount ?? 0;
    if (slowMs > 0) await delay(Math.min(slowMs, limitMs));
    if (slowMs >= limitMs) throw new Error(`no answer within ${limitMs} ms`);
    const struck = faults.strike('dns', ['servfail', 'nxdomain']);
    if (struck?.effect === 'servfail')
      throw Object.assign(new Error('queryTxt ESERVFAIL'), { code: 'ESERVFAIL' });
    return struck ? [] : dns.txtRecords(name);
  },
});

/** As a service that has just been started finds a provider that is away. */
export const faultyVerifier = (tokens: TokenVerifier, faults: Faults): TokenVerifier => ({
  async verify(authorization) {
    const verdict = await tokens.verify(authorization);
    // A token that no key could save is refused for what is wrong with it.
    if ('refusal' in verdict || !faults.strike('identity', ['away'])) return verdict;
    const message = "The identity provider's keys cannot be fetched at the moment; try again later.";
    return { refusal: { code: 'keys_unavailable', message } };
  },
  ready: tokens.ready,
});
