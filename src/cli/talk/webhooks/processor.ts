/** The payment processor of the stack that runs here: its clock, its events, and where they go. */

import type { ControlCall } from '../../../client/control-call.ts';
import { showClock } from '../../../contract/control/clock.ts';
import { listProcessorEndpoints } from '../../../contract/control/processor.ts';
import type { CommandContext } from '../../machine/context.ts';
import { CliError, usageError } from '../../machine/errors.ts';
import { mustSucceed } from '../../service/control-reply.ts';
import { clientFor, resolveTarget, type Target } from '../../service/target.ts';

export interface Processor {
  call: ControlCall;
  target: Target;
  /** Milliseconds since 1970 on the emulator's clock. */
  nowMs: () => Promise<number>;
}

/** The emulated processor; E_NOT_RUNNING when no stack runs here. */
export async function findProcessor(context: CommandContext): Promise<Processor> {
  const target = await resolveTarget(context);
  const { call } = clientFor(target, context);
  return {
    call,
    target,
    async nowMs() {
      const reply = await call(showClock);
      mustSucceed(reply);
      return Date.parse(reply.body.now);
    },
  };
}

/** Undefined when no stack runs here. */
export async function processorIfRunning(context: CommandContext): Promise<Processor | undefined> {
  try {
    return await findProcessor(context);
  } catch (error) {
    if (error instanceof CliError && error.problem.code === 'E_NOT_RUNNING') return undefined;
    throw error;
  }
}

/** Where deliveries go, and what they are signed with. */
interface Destination {
  to: string;
  secret: string;
}

/**
 * `--to` and `--secret`, else the stack's own endpoint, payment-mint. The secret of an address is the one of the endpoint
 * that is registered for it. E_USAGE when one of them remains unknown.
 */
export async function destinationOf(
  processor: Processor | undefined,
  { to, secret }: { to?: string | undefined; secret?: string | undefined },
): Promise<Destination> {
  if (to !== undefined && secret !== undefined) return { to, secret };
  const endpoints = processor ? await endpointsOf(processor) : [];
  const endpoint = endpoints.find(({ url, own }) => (to === undefined ? own : isSameAddress(url, to)));
  if (to === undefined && !endpoint)
    throw usageError(
      'Nothing runs here that takes events.',
      'Start a stack with `rewards serve`, or give --to <url> and --secret.',
    );
  const known = secret ?? endpoint?.secret;
  if (known === undefined)
    throw usageError(
      `The signing secret of ${to} is not known here.`,
      'Give it with --secret whsec_…, or set REWARDS_WEBHOOK_SECRET.',
    );
  return { to: to ?? endpoint?.url ?? '', secret: known };
}

async function endpointsOf({ call }: Processor) {
  const reply = await call(listProcessorEndpoints);
  mustSucceed(reply);
  return reply.body.endpoints;
}

const isSameAddress = (one: string, other: string) =>
  URL.canParse(one) && URL.canParse(other) && new URL(one).href === new URL(other).href;
