/** The emulated payment processor over the control API. */
import type { Context, Handler } from 'hono';
import type { z } from 'zod';
import * as contract from '../../contract/control/processor.ts';
import { parseDuration } from '../../lib/duration.ts';
import { readSettings, refuse } from './refuse.ts';

type SessionView = z.output<typeof contract.processorSession>;
type EventView = z.output<typeof contract.processorEvent>;
type DeliveryView = z.output<typeof contract.processorDeliveries>['deliveries'][number];
type EndpointView = z.output<typeof contract.processorEndpoint>;

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
  sessions(filter: { status?: string | undefined; limit: number }): Promise<SessionView[]>;
  /** `name`: an id of the processor, the checkout's own, or `latest`. */
  session(name: string): OrRefusal<SessionView>;
  /** `silent`: no endpoint hears of it. */
  step(name: string, step: SessionStep, choice: { silent: boolean }): OrRefusal<SessionView>;
  events(filter: {
    type?: string | undefined;
    object?: string | undefined;
    limit: number;
  }): Promise<EventView[]>;
  event(name: string): OrRefusal<EventView>;
  resend(name: string, endpointId: string | undefined): OrRefusal<EventView>;
  deliveries(filter: {
    event?: string | undefined;
    endpoint?: string | undefined;
    state?: DeliveryView['state'] | undefined;
    limit: number;
  }): Promise<DeliveryView[]>;
  endpoints(): Promise<EndpointView[]>;
  addEndpoint(wish: { url: string; events: string[]; secret?: string | undefined }): OrRefusal<EndpointView>;
  removeEndpoint(id: string): OrRefusal<{ removed: string }>;
}

const LIST_DEFAULT = 50;

export function controlProcessor(processor: ControlProcessorDeps): Record<string, Handler> {
  const step = <Wish extends z.ZodType<{ webhook?: boolean | undefined }>>(
    schema: Wish,
    toStep: (wish: z.output<Wish>) => SessionStep,
  ): Handler =>
    withBody(schema, async (context, wish) => {
      const name = context.req.param('session') ?? '';
      return answer(context, await processor.step(name, toStep(wish), { silent: wish.webhook === false }));
    });
  const pay = step(contract.paymentWish, paymentStep);
  return {
    listSessions: withQuery(contract.sessionsQuery, async (context, { limit = LIST_DEFAULT, status }) =>
      context.json({ sessions: await processor.sessions({ limit, status }) }),
    ),
    showSession: async (context) =>
      answer(context, await processor.session(context.req.param('session') ?? '')),
    paySession: pay,
    payCheckout: pay,
    declineSession: step(contract.declineWish, ({ code = 'generic_decline' }) => ({
      kind: 'decline',
      declineCode: code,
    })),
    expireSession: step(contract.expiryWish, () => ({ kind: 'expire' })),
    refundSession: step(contract.refundWish, ({ amount, reason }) => ({ kind: 'refund', amount, reason })),
    disputeSession: step(contract.disputeWish, ({ reason }) => ({ kind: 'dispute', reason })),
    listProcessorEvents: withQuery(
      contract.eventsQuery,
      async (context, { limit = LIST_DEFAULT, ...filter }) => {
        const events = await processor.events({ limit, ...filter });
        return context.json({ events: events.map(({ payload: _, ...event }) => event) });
      },
    ),
    showProcessorEvent: async (context) =>
      answer(context, await processor.event(context.req.param('event') ?? '')),
    resendProcessorEvent: withBody(contract.resendWish, async (context, { endpoint }) =>
      answer(context, await processor.resend(context.req.param('event') ?? '', endpoint)),
    ),
    listProcessorDeliveries: withQuery(
      contract.deliveriesQuery,
      async (context, { limit = LIST_DEFAULT, ...filter }) =>
        context.json({ deliveries: await processor.deliveries({ limit, ...filter }) }),
    ),
    listProcessorEndpoints: async (context) => context.json({ endpoints: await processor.endpoints() }),
    addProcessorEndpoint: withBody(contract.endpointWish, async (context, { events = ['*'], ...wish }) =>
      answer(context, await processor.addEndpoint({ events, ...wish }), 201),
    ),
    removeProcessorEndpoint: async (context) =>
      answer(context, await processor.removeEndpoint(context.req.param('endpoint') ?? '')),
  };
}

const paymentStep = ({ later, delay, fails, email }: z.output<typeof contract.paymentWish>): SessionStep => ({
  kind: 'pay',
  email,
  ...((later || delay !== undefined || fails !== undefined) && {
    later: { delayMs: delay === undefined ? undefined : parseDuration(delay), fails },
  }),
});

const answer = (context: Context, result: object | { refusal: ProcessorRefusal }, status: 200 | 201 = 200) =>
  'refusal' in result
    ? refuse(context, result.refusal as ProcessorRefusal)
    : context.json(result as Record<string, unknown>, status);

/** A body may be left out where nothing has to be in it. */
const withBody =
  <Schema extends z.ZodType>(
    schema: Schema,
    work: (context: Context, wish: z.output<Schema>) => Promise<Response>,
  ): Handler =>
  async (context) => {
    const isEmpty =
      (context.req.header('content-length') ?? '0') === '0' && !context.req.header('transfer-encoding');
    const body = isEmpty ? {} : await readSettings(context);
    if (!body) return refuse(context, { code: 'invalid_body' });
    const read = schema.safeParse(body);
    return read.success ? work(context, read.data) : invalid(context, read.error);
  };

const withQuery =
  <Schema extends z.ZodType>(
    schema: Schema,
    work: (context: Context, query: z.output<Schema>) => Promise<Response>,
  ): Handler =>
  async (context) => {
    const { limit, ...texts } = context.req.query();
    const read = schema.safeParse({ ...texts, ...(limit !== undefined && { limit: Number(limit) }) });
    return read.success ? work(context, read.data) : invalid(context, read.error);
  };

const invalid = (context: Context, { issues }: z.ZodError): Response =>
  refuse(context, {
    code: 'invalid_settings',
    problems: issues.flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((setting) => ({ setting, message: 'is unknown' }))
        : [{ setting: issue.path.join('.'), message: issue.message }],
    ),
  });
