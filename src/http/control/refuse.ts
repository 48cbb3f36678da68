/** What the control host's handlers share: how they refuse, and how much they read. */
import type { Context } from 'hono';
import { type ControlRefusal, controlRefusals } from '../../contract/control/refusals.ts';
import { createRefuser } from '../frame/refuse.ts';

/** Control requests are small. */
export const BODY_LIMIT_BYTES = 64 * 1024;

// No refusal of this host depends on the time.
const refuser = createRefuser(controlRefusals, { clock: { now: () => 0 } });

export const refuse = (context: Context, refusal: ControlRefusal): Response =>
  refuser.answer(context, refusal);
