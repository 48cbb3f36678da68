/** A service with the brands of the contract tests, its emulated processor, and a proxy between the two. */
import { Stripe } from 'stripe';
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { pointsSaleAbi } from '../../../src/chain/contracts/abis.ts';
import { sessionMintKey } from '../../../src/chain/contracts/sale-mint.ts';
import { type LogFields, silentLog } from '../../../src/lib/log.ts';
import { databaseKinds } from '../../kits/databases/databases.ts';
import { startProcessorProxy } from '../../kits/network/processor-proxy.ts';
import type { Answer } from '../../kits/service/service.ts';
import { API, type Brand, shop, startContractService } from '../kit.ts';

/** For tests of what is decided before the ledger is asked. */
export const onOne = { kinds: databaseKinds.slice(0, 1) };

export type PaymentService = Awaited<ReturnType<typeof startPaymentService>>;

export async function startPaymentService(change: Parameters<typeof startContractService>[0] = {}) {
  const proxy = await startProcessorProxy();
  const warnings: LogFields[] = [];
  const log = { ...silentLog, warn: (fields: LogFields) => void warnings.push(fields) };
  const service = await startContractService({ processorAt: proxy.at, log, ...change });
  const { control, webhookSecret } = { control: service.ready.urls.control, ...service.ready.processor };
  const checkoutBody = (of: Brand = shop) => ({
    brandId: of.brandId,
    amount: 2_500,
    userEmail: 'buyer@people.example',
    successUrl: `https://${of.domain}/thanks`,
    cancelUrl: `https://${of.domain}/cart`,
  });
  const checkout = (fields: Record<string, unknown> = {}, headers?: Record<string, string>) =>
    service.post(`${API}/create-checkout`, { ...checkoutBody(), ...fields }, headers);
  const pay = (sessionId: string, wish: Record<string, unknown> = {}) =>
    service.control(`/processor/sessions/${sessionId}/pay`, { webhook: false, ...wish });
  /** A session that is open. */
  const openSession = async (fields?: Record<string, unknown>): Promise<string> => {
    const answer = await checkout(fields);
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    return answer.body.sessionId;
  };
  const show = async (path: string) => (await service.request(`${control}/processor${path}`)).body;
  return {
    ...service,
    proxy,
    /** What the service has warned of. */
    warnings,
    /** What the processor was asked about sessions; the looks at its events come on their own. */
    asked: () => proxy.calls.filter(({ path }) => path.startsWith('/v1/checkout/sessions')),
    /** The newest request for a session; looks at others may have come after it. */
    newestCheckout: () =>
      proxy.calls.findLast(({ method, path }) => method === 'POST' && path === '/v1/checkout/sessions'),
    checkoutBody,
    checkout,
    openSession,
    pay,
    /** A session that is paid, and of which no event has told. */
    async paidSession(fields?: Record<string, unknown>): Promise<string> {
      const sessionId = await openSession(fields);
      await pay(sessionId);
      return sessionId;
    },
    /** What else happens to a session: expire, refund, dispute. No event tells of it unless asked for. */
    step: (sessionId: string, verb: string, wish: Record<string, unknown> = {}) =>
      service.control(`/processor/sessions/${sessionId}/${verb}`, { webhook: false, ...wish }),
    session: (sessionId: string) => show(`/sessions/${sessionId}`),
    mint: (sessionId: unknown) => service.post(`${API}/payment-mint`, { sessionId }),
    /** The text of an event of the processor about a session, its charge or its dispute, newest first. */
    async eventText(type: string, sessionId: string): Promise<string> {
      const { events } = await show(`/events?type=${type}`);
      for (const { id } of events) {
        const { payload } = await show(`/events/${id}`);
        const { object } = payload.data;
        const { paymentIntentId } = await show(`/sessions/${sessionId}`);
        if ([sessionId, paymentIntentId].includes(object.id) || object.payment_intent === paymentIntentId)
          return JSON.stringify(payload);
      }
      throw new Error(`there is no ${type} of ${sessionId}`);
    },
    /** Sends an event as the processor would; `ageSeconds`: how long ago it was signed. */
    async deliver(
      text: string | Uint8Array,
      { ageSeconds = 0, signedText = text.toString(), secret = webhookSecret, signature = '' } = {},
    ): Promise<Answer> {
      const nowMs = Date.parse((await service.request(`${control}/clock`)).body.now);
      const timestamp = Math.floor(nowMs / 1_000) - ageSeconds;
      const header =
        signature || Stripe.webhooks.generateTestHeaderString({ payload: signedText, secret, timestamp });
      return service.post(`${API}/payment-mint`, text, { 'stripe-signature': header });
    },
    /** How often the sale has minted for a session, whatever for. */
    async mintsOnChain(sessionId: string): Promise<number> {
      const { pointsSale: address } = service.ready.contracts;
      const events = await service.chain.getContractEvents({
        address: address as `0x${string}`,
        abi: pointsSaleAbi,
        fromBlock: 0n,
      });
      const key = sessionMintKey(sessionId);
      return events.filter(({ args }) => (args as { key?: string }).key === key).length;
    },
    async stop() {
      await service.stop();
      await proxy.stop();
    },
  };
}

/**
 * The same tests on each database, or on one where the ledger decides nothing; `get` gives the service while a test
 * runs. After each, the processor is honest again.
 */
export function onPayments(
  name: string,
  tests: (get: () => PaymentService) => void,
  { kinds = databaseKinds }: { kinds?: typeof databaseKinds } = {},
) {
  describe.each(kinds)(`${name} (on $kind)`, ({ open: openDatabase }) => {
    let service: PaymentService | undefined;
    let database: Awaited<ReturnType<typeof openDatabase>> | undefined;
    beforeAll(async () => {
      database = await openDatabase();
      service = await startPaymentService({ databaseUrl: database.databaseUrl });
    });
    afterEach(() => {
      service?.proxy.tamper(undefined);
      service?.proxy.fail(undefined);
    });
    afterAll(async () => {
      await service?.stop();
      await database?.stop();
    });
    tests(() => {
      if (!service) throw new Error('the service has not started');
      return service;
    });
  });
}
