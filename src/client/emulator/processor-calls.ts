/** The control API's part for the emulated payment processor: what happens to its sessions, what it tells, and where that goes. */
import type {
  ProcessorEndpointBody,
  ProcessorEndpointsBody,
  ProcessorEventBody,
  ProcessorEventsBody,
  SessionBody,
  SessionsBody,
  SessionWishes,
} from '../bodies.ts';
import type { ControlSend } from '../control-send.ts';
import { queryOf } from '../query.ts';

export function processorCalls(send: ControlSend) {
  const event = (name: string) => `/processor/events/${encodeURIComponent(name)}`;
  const session = (name: string) => `/processor/sessions/${encodeURIComponent(name)}`;
  return {
    /** Newest first. */
    sessions: (filter: { status?: string | undefined; limit?: number } = {}) =>
      send<SessionsBody>('GET', `/processor/sessions${queryOf(filter)}`),
    /** `name`: an id, the id of the checkout that made it, or `latest`. */
    session: (name: string) => send<SessionBody>('GET', session(name)),
    /** What a buyer, a bank or the merchant does. */
    step: <Step extends keyof SessionWishes>(name: string, step: Step, wish: SessionWishes[Step]) =>
      send<SessionBody>('POST', `${session(name)}/${step}`, wish),
    /** Newest first. `object`: a session, payment, charge or dispute. */
    events: (filter: { type?: string | undefined; object?: string | undefined; limit?: number }) =>
      send<ProcessorEventsBody>('GET', `/processor/events${queryOf(filter)}`),
    /** `name`: an id, or `latest`. */
    event: (name: string) => send<ProcessorEventBody>('GET', event(name)),
    endpoints: () => send<ProcessorEndpointsBody>('GET', '/processor/endpoints'),
    /** From then on its events go there as well. Without `events` all, without `secret` a new one. */
    addEndpoint: (wish: { url: string; events?: string[] | undefined; secret?: string | undefined }) =>
      send<ProcessorEndpointBody>('POST', '/processor/endpoints', wish),
    removeEndpoint: (id: string) =>
      send<{ removed: string }>('DELETE', `/processor/endpoints/${encodeURIComponent(id)}`),
  };
}
