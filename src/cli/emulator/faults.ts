/** `rewards faults list|set|clear`: over the control API of the emulator. */

import type { ClearedFaults, FaultList, ShownFault } from '../../contract/control/faults.ts';
import * as faultsApi from '../../contract/control/faults.ts';
import type { Handler } from '../machine/context.ts';
import { asks } from '../service/control.ts';
import type { Style } from '../terminal/style.ts';

const listText = ({ faults }: FaultList, style: Style): string =>
  faults.length > 0
    ? faults.map((fault) => faultLine(fault, style)).join('\n')
    : style.dim('no faults are set; `rewards faults set --help` lists what can fail');

export const listFaults = asks(faultsApi.listFaults, { text: listText });

export const setFault = asks(faultsApi.setFault, {
  request: (options: { fault: string; times?: number; for?: string }) => {
    const [seam = '', ...rest] = options.fault.split('=');
    const effect = rest.length > 0 ? rest.join('=') : undefined;
    return { body: { seam, effect, times: options.times, for: options.for } };
  },
  text: faultLine,
});

const clearedText = ({ cleared }: ClearedFaults, style: Style): string =>
  cleared.length > 0
    ? cleared.map((fault) => `${style.green('cleared')}  ${faultLine(fault, style)}`).join('\n')
    : style.dim('no faults were set');

const clearOne = asks(faultsApi.clearFault, {
  request: ({ name }: { name: string }) => ({ path: { name } }),
  text: clearedText,
});
const clearAll = asks(faultsApi.clearFaults, { text: clearedText });

export const clearFaults: Handler<{ name?: string }> = (context, { name }) =>
  name === undefined ? clearAll(context, {}) : clearOne(context, { name });

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
