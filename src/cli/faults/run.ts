/** `rewards faults list|set|clear`: over the control API of the emulator. */
import type { FaultBody, FaultListBody, FaultsClearedBody } from '../../client/bodies.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { isObject } from '../service/assignments.ts';
import { replyResult } from '../service/control-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import type { Style } from '../terminal/style.ts';

const faultsOf = async (context: CommandContext) =>
  clientFor(await resolveTarget(context), context).control.faults;

export async function listFaults(context: CommandContext) {
  const faults = await faultsOf(context);
  return replyResult(await faults.list(), {
    hasRightForm: (body) => isObject(body) && Array.isArray(body.faults),
    text: listText,
  });
}

export const setFault: Handler<{ fault: string; times?: number; for?: string }> = async (
  context,
  options,
) => {
  const [seam = '', ...rest] = options.fault.split('=');
  const effect = rest.length > 0 ? { effect: rest.join('=') } : {};
  const faults = await faultsOf(context);
  const reply = await faults.set({ seam, ...effect, times: options.times, for: options.for });
  return replyResult(reply, {
    hasRightForm: (body) => isObject(body) && typeof body.id === 'string',
    text: faultLine,
  });
};

export const clearFaults: Handler<{ name?: string }> = async (context, { name }) => {
  const faults = await faultsOf(context);
  return replyResult(await faults.clear(name), {
    hasRightForm: (body) => isObject(body) && Array.isArray(body.cleared),
    text: clearedText,
  });
};

const listText = ({ faults }: FaultListBody, style: Style): string =>
  faults.length > 0
    ? faults.map((fault) => faultLine(fault, style)).join('\n')
    : style.dim('no faults are set; `rewards faults set --help` lists what can fail');

const clearedText = ({ cleared }: FaultsClearedBody, style: Style): string =>
  cleared.length > 0
    ? cleared.map((fault) => `${style.green('cleared')}  ${faultLine(fault, style)}`).join('\n')
    : style.dim('no faults were set');

/** `fault-1  node=away  2 times more  until 2030-01-01T00:10:00.000Z  struck once`. */
function faultLine({ id, seam, effect, timesLeft, until, struck }: FaultBody, style: Style): string {
  return [
    style.bold(id),
    style.yellow(`${seam}=${effect}`),
    ...(timesLeft === null ? [] : [`${counted(timesLeft)} more`]),
    ...(until === null ? [] : [`until ${until}`]),
    ...(timesLeft === null && until === null ? ['until it is cleared'] : []),
    style.dim(`struck ${struck === 1 ? 'once' : counted(struck)}`),
  ].join('  ');
}

const counted = (times: number) => `${times} ${times === 1 ? 'time' : 'times'}`;
