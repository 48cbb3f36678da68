/** The emulated payment processor over the control API. */
import type { InputOf } from '../../contract/control/control-endpoint.ts';
import type {
  CheckoutSession,
  ProcessorDelivery,
  ProcessorEndpoint,
  ProcessorEvent,
} from '../../contract/control/processor.ts';
import * as contract from '../../contract/control/processor.ts';
import { parseDuration } from '../../lib/duration.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';

/** An expected no: there is no such object, or its state does not allow what is asked. */
export type ProcessorRefusal =
  | { code: 'processor_object_not_found'; kind: 'session' | 'event' | 'delivery' | 'endpoint'; name: string }
  | { code: 'processor_refused'; message: string; reason: string | null };
type OrRefusal<T> = Promise<T | { refusal: ProcessorRefusal }>;

/** What a buyer, a bank or the merchant does. */
export type SessionStep =
  | {
      kind: 'pay';
      /** Undefined: paid at once. */
      later?: { delayMs?: number | undefined; fails?: string | undefined } | undefined;
      email?: string | undefined;
    }
  | { kind: 'decline'; declineCode: string }
  | { kind: 'expire' }
  | { kind: 'refund'; amount?: number | undefined; reason?: string | undefined }
  | { kind: 'dispute'; reason?: string | undefined };

export interface ControlProcessorDeps {
  sessions(filter: {
    status?: string | undefined;
    user?: string | undefined;
    limit: number;
  }): Promise<CheckoutSession[]>;
  /** Sends what a brand's server would; `not`: why there is no session. */
  begin(
    wish: InputOf<typeof contract.beginCheckout>['body'],
  ): Promise<{ sessionId: string } | { not: { why: string } }>;
  /** `name`: an id of the processor, the checkout's own, or `latest`. */
  session(name: string): OrRefusal<CheckoutSession>;
  /** `silent`: no endpoint hears of it. */
  step(name: string, step: SessionStep, choice: { silent: boolean }): OrRefusal<CheckoutSession>;
  events(filter: {
    type?: string | undefined;
    object?: string | undefined;
    session?: string | undefined;
    limit: number;
  }): Promise<ProcessorEvent[]>;
  event(name: string): OrRefusal<ProcessorEvent>;
  resend(name: string, endpointId: string | undefined): OrRefusal<ProcessorEvent>;
  deliveries(filter: {
    event?: string | undefined;
    endpoint?: string | undefined;
    state?: ProcessorDelivery['state'] | undefined;
    limit: number;
  }): Promise<ProcessorDelivery[]>;
  endpoints(): Promise<ProcessorEndpoint[]>;
  addEndpoint(request: {
    url: string;
    events: string[];
    secret?: string | undefined;
  }): OrRefusal<ProcessorEndpoint>;
  removeEndpoint(id: string): OrRefusal<{ removed: string }>;
}

export function controlProcessor(processor: ControlProcessorDeps): ControlRoute[] {
  const told = (webhook: boolean | undefined) => ({ silent: webhook === false });
  return [
    controlHandler(contract.listSessions, async ({ query }) => ({
      sessions: await processor.sessions(query),
    })),
    controlHandler(contract.beginCheckout, async ({ body }) => {
      const begun = await processor.begin(body);
      return 'not' in begun
        ? { refusal: { code: 'not_sent', ...begun.not } }
        : processor.session(begun.sessionId);
    }),
    controlHandler(contract.showSession, ({ path }) => processor.session(path.session)),
    ...[contract.paySession, contract.payCheckout].map((pay) =>
      controlHandler(pay, ({ path, body: { webhook, ...payment } }) =>
        processor.step(path.session, paymentStep(payment), told(webhook)),
      ),
    ),
    controlHandler(contract.declineSession, ({ path, body: { webhook, code = 'generic_decline' } }) =>
      processor.step(path.session, { kind: 'decline', declineCode: code }, told(webhook)),
    ),
    controlHandler(contract.expireSession, ({ path, body }) =>
      processor.step(path.session, { kind: 'expire' }, told(body.webhook)),
    ),
    controlHandler(contract.refundSession, ({ path, body: { webhook, ...refund } }) =>
      processor.step(path.session, { kind: 'refund', ...refund }, told(webhook)),
    ),
    controlHandler(contract.disputeSession, ({ path, body: { webhook, reason } }) =>
      processor.step(path.session, { kind: 'dispute', reason }, told(webhook)),
    ),
    controlHandler(contract.listProcessorEvents, async ({ query }) => {
      const events = await processor.events(query);
      return { events: events.map(({ payload: _, ...event }) => event) };
    }),
    controlHandler(contract.showProcessorEvent, ({ path }) => processor.event(path.event)),
    controlHandler(contract.resendProcessorEvent, ({ path, body }) =>
      processor.resend(path.event, body.endpoint),
    ),
    controlHandler(contract.listProcessorDeliveries, async ({ query }) => ({
      deliveries: await processor.deliveries(query),
    })),
    controlHandler(contract.listProcessorEndpoints, async () => ({ endpoints: await processor.endpoints() })),
    controlHandler(contract.addProcessorEndpoint, ({ body: { events = ['*'], ...request } }) =>
      processor.addEndpoint({ events, ...request }),
    ),
    controlHandler(contract.removeProcessorEndpoint, ({ path }) => processor.removeEndpoint(path.endpoint)),
  ];
}

const paymentStep = ({
  later,
  delay,
  fails,
  email,
}: InputOf<typeof contract.paySession>['body']): SessionStep => ({
  kind: 'pay',
  email,
  ...((later || delay !== undefined || fails !== undefined) && {
    later: { delayMs: delay === undefined ? undefined : parseDuration(delay), fails },
  }),
});
