/** What the control host's handlers share: how they refuse, and how they read a body of settings. */
import type { Context } from 'hono';
import { type ControlRefusal, controlRefusals } from '../../contract/control/refusals.ts';
import type { Settings } from '../../rules/brands/settings.ts';
import { readJsonBody } from '../frame/body/json-body.ts';
import { createRefuser } from '../frame/refuse.ts';

/** Control requests are small. */
export const BODY_LIMIT_BYTES = 64 * 1024;

// No refusal of this host depends on the time.
const refuser = createRefuser(controlRefusals, { clock: { now: () => 0 } });

export const refuse = (context: Context, refusal: ControlRefusal): Response =>
  refuser.answer(context, refusal);

/** The body as an object of settings, or undefined. */
export async function readSettings(context: Context): Promise<Settings | undefined> {
  const body = await readJsonBody(context.req.raw, BODY_LIMIT_BYTES);
  if (!('value' in body) || typeof body.value !== 'object' || Array.isArray(body.value)) return undefined;
  return body.value === null ? undefined : (body.value as Settings);
}
