/** What the control API knows of the emulated payment processor's events, and of where they go. */
import type {
  ProcessorEndpointBody,
  ProcessorEndpointsBody,
  ProcessorEventBody,
  ProcessorEventsBody,
} from './bodies.ts';
import type { ControlSend } from './control-send.ts';
import { queryOf } from './query.ts';

export function processorCalls(send: ControlSend) {
  const event = (name: string) => `/processor/events/${encodeURIComponent(name)}`;
  return {
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
