/** The types of events that a webhook endpoint asks for. */
import { eventTypes } from '../record-event.ts';
import { invalidRequest } from '../stripe-error.ts';
import type { Parameters } from './form-parameters.ts';

/** Reads `enabled_events`: one or more types that the emulated processor tells, or `*`. */
export function readEventTypes(parameters: Parameters): string[] {
  const param = 'enabled_events';
  const events = parameters.texts(param);
  if (events.length === 0)
    throw invalidRequest(`Missing required param: ${param}.`, { code: 'parameter_missing', param });
  const unknown = events.find((one) => one !== '*' && !(eventTypes as readonly string[]).includes(one));
  if (unknown === undefined) return events;
  throw invalidRequest(
    `Invalid ${param}: ${unknown}. The emulated processor tells ${eventTypes.join(', ')}`,
    { param },
  );
}
