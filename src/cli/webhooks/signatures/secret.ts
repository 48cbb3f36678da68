/** The signing secret that a command was given. */
import { usageError } from '../../machine/errors.ts';

/** The secret, or E_USAGE with the two ways to give it. */
export function secretFrom(secret: string | undefined): string {
  if (secret) return secret;
  throw usageError(
    'The signing secret is missing.',
    'Give it with --secret whsec_…, or set REWARDS_WEBHOOK_SECRET, which keeps it out of the list of processes.',
  );
}
