/** What can be changed of objects that the processor has already: the fields that Stripe lets a merchant change, as far as they mean something here. */
import type { Dispute, PaymentIntent } from '../objects/payment-objects.ts';
import type { Session } from '../objects/session-object.ts';
import { eventTypes, recordEvent, type Telling, type WebhookEndpoint } from '../record-event.ts';
import type { Change, Entry, StripeObject } from '../records.ts';
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

/** Limits of the API. */
const DESCRIPTION_MAX = 1_000;
const EVIDENCE_MAX = 20_000;

async function stored<Body extends StripeObject>(change: Change, entry: Entry<Body>): Promise<Body> {
  await change.store(entry);
  return entry.body;
}

export async function updateSession(change: Change, id: string, parameters: Parameters): Promise<Session> {
  const entry = await change.need<Session>('checkout.session', id, 'session');
  entry.body.metadata = parameters.metadataChange()(entry.body.metadata ?? {});
  parameters.finish();
  return stored(change, entry);
}

export async function updateIntent(change: Change, id: string, parameters: Parameters) {
  const entry = await change.need<PaymentIntent>('payment_intent', id, 'intent');
  const { body } = entry;
  body.metadata = parameters.metadataChange()(body.metadata);
  const description = parameters.textOrUnset('description', { max: DESCRIPTION_MAX });
  if (description !== undefined) body.description = description;
  const email = parameters.isUnset('receipt_email') ? null : parameters.email('receipt_email');
  if (email !== undefined) body.receipt_email = email;
  parameters.finish();
  return stored(change, entry);
}

export async function updateEndpoint(change: Change, id: string, parameters: Parameters) {
  const entry = await change.need<WebhookEndpoint>('webhook_endpoint', id, 'webhook_endpoint');
  const { body } = entry;
  body.url = parameters.url('url') ?? body.url;
  if (parameters.has('enabled_events')) body.enabled_events = readEventTypes(parameters);
  const description = parameters.textOrUnset('description', { max: DESCRIPTION_MAX });
  if (description !== undefined) body.description = description;
  const disabled = parameters.oneOf('disabled', ['true', 'false']);
  if (disabled !== undefined) body.status = disabled === 'true' ? 'disabled' : 'enabled';
  body.metadata = parameters.metadataChange()(body.metadata);
  parameters.finish();
  return stored(change, entry);
}

/** Evidence goes to the bank unless it is only kept for later; the bank's answer is not emulated. */
export async function updateDispute(
  change: Change,
  { id, parameters }: { id: string; parameters: Parameters },
  telling: Telling,
): Promise<Dispute> {
  const entry = await openDispute(change, id);
  const { body } = entry;
  body.metadata = parameters.metadataChange()(body.metadata);
  const evidence = parameters.group('evidence')?.rest({ max: EVIDENCE_MAX });
  const submits = parameters.oneOf('submit', ['true', 'false']) !== 'false';
  parameters.finish();
  if (evidence) {
    const kept: Record<string, unknown> = { ...body.evidence };
    for (const [name, text] of Object.entries(evidence)) kept[name] = text === '' ? null : text;
    body.evidence = kept as unknown as Dispute['evidence'];
    const hasEvidence = Object.values(kept).some((text) => text !== null);
    body.evidence_details.has_evidence = hasEvidence;
    if (submits && hasEvidence) {
      body.evidence_details.submission_count += 1;
      body.status = 'under_review';
    }
  }
  await change.store(entry);
  await recordEvent(change, 'charge.dispute.updated', body, telling);
  return body;
}

/** The merchant gives in: the buyer keeps the money. */
export async function closeDispute(change: Change, id: string, telling: Telling): Promise<Dispute> {
  const entry = await openDispute(change, id);
  entry.body.status = 'lost';
  await change.store(entry);
  await recordEvent(change, 'charge.dispute.closed', entry.body, telling);
  return entry.body;
}

async function openDispute(change: Change, id: string): Promise<Entry<Dispute>> {
  const entry = await change.need<Dispute>('dispute', id, 'dispute');
  if (entry.body.status === 'lost') throw invalidRequest(`This dispute is already closed (${id})`);
  return entry;
}
