/** The signing secret that a command was given, and the clock that goes with it. */
import type { CommandContext } from '../../machine/context.ts';
import { usageError } from '../../machine/errors.ts';
import { destinationOf, processorIfRunning } from '../../talk/webhooks/processor.ts';

/** The secret, or E_USAGE with the two ways to give it. */
export function secretFrom(secret: string | undefined): string {
  if (secret) return secret;
  throw usageError(
    'The signing secret is missing.',
    'Give it with --secret whsec_…, or set REWARDS_WEBHOOK_SECRET, which keeps it out of the list of processes.',
  );
}

/** The secret and the time by this machine; where none is given, the emulated processor's, by the emulator's clock. */
export async function signingFrom(
  context: CommandContext,
  given: string | undefined,
): Promise<{ secret: string; nowMs: number }> {
  const processor = given === undefined ? await processorIfRunning(context) : undefined;
  if (!processor) return { secret: secretFrom(given), nowMs: context.runtime.clock.now() };
  context.note('the secret is the one of the emulated payment processor, and the time the emulator’s');
  return { secret: (await destinationOf(processor, {})).secret, nowMs: await processor.nowMs() };
}
