/** `rewards faults list|set|clear`: over the control API of the emulator. */

import type { ClearedFaults, FaultList, ShownFault } from '../../contract/control/faults.ts';
import * as faultsApi from '../../contract/control/faults.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { replyResult } from '../service/control-reply.ts';
import { callFor } from '../service/target.ts';
import type { Style } from '../terminal/style.ts';

export async function listFaults(context: CommandContext) {
  const call = await callFor(context);
  return replyResult(await call(faultsApi.listFaults), {
    text: listText,
  });
}

export const setFault: Handler<{ fault: string; times?: number; for?: string }> = async (
  context,
  options,
) => {
  const [seam = '', ...rest] = options.fault.split('=');
  const effect = rest.length > 0 ? { effect: rest.join('=') } : {};
  const call = await callFor(context);
  const reply = await call(faultsApi.setFault, {
    body: { seam, ...effect, times: options.times, for: options.for },
  });
  return replyResult(reply, {
    text: faultLine,
  });
};

export const clearFaults: Handler<{ name?: string }> = async (context, { name }) => {
  const call = await callFor(context);
  return replyResult(
    name === undefined
      ? await call(faultsApi.clearFaults)
      : await call(faultsApi.clearFault, { path: { name } }),
    {
      text: clearedText,
    },
  );
};

const listText = ({ faults }: FaultList, style: Style): string =>
  faults.length > 0
    ? faults.map((fault) => faultLine(fault, style)).join('\n')
    : style.dim('no faults are set; `rewards faults set --help` lists what can fail');

const clearedText = ({ cleared }: ClearedFaults, style: Style): string =>
  cleared.length > 0
    ? cleared.map((fault) => `${style.green('cleared')}  ${faultLine(fault, style)}`).join('\n')
    : style.dim('no faults were set');

/** `fault-1  node=away  2 times more  until 2030-01-01T00:10:00.000Z  struck once`. */
function faultLine({ id, seam, effect, timesLeft, until, struck }: ShownFault, style: Style): string {
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
