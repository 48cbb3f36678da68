/** The service that redeems perks and checks codes: a ledger alone does neither, and only tells whose a domain is. */
import type { CommandContext } from '../machine/context.ts';
import { CliError } from '../machine/errors.ts';
import type { LedgerOptions } from '../machine/setting-options.ts';
import { meansLedger } from '../service/ledger.ts';
import { resolveTarget, type Target } from '../service/target.ts';

/** Throws E_NOT_RUNNING without a service, and says how to name one where only a ledger is given. */
export async function serviceTarget(context: CommandContext, options: LedgerOptions): Promise<Target> {
  try {
    return await resolveTarget(context);
  } catch (error) {
    const nothingRuns = error instanceof CliError && error.problem.code === 'E_NOT_RUNNING';
    if (!nothingRuns || !meansLedger(context, options)) throw error;
    throw new CliError('E_NOT_RUNNING', {
      message: 'The ledger is given, and this is asked of its service.',
      fix: 'Add the address of the service: --target https://rewards.example.',
    });
  }
}
