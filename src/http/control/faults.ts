/** Faults over the control API. */
import type { InputOf } from '../../contract/control/control-endpoint.ts';
import {
  clearFault,
  clearFaults,
  type FaultList,
  listFaults,
  type ShownFault,
  setFault,
} from '../../contract/control/faults.ts';
import type { SettingProblem } from '../../rules/brands/settings.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';

interface Fault {
  id: string;
  seam: string;
  written: string;
  setAtMs: number;
  timesLeft: number | undefined;
  untilMs: number | undefined;
  struck: number;
}

export interface ControlFaultsDeps {
  /** What can be made to fail; effects as they are written. */
  seams: FaultList['seams'];
  set(request: InputOf<typeof setFault>['body']): Fault | { problems: SettingProblem[] };
  list(): Fault[];
  /** By id, by seam, or all. */
  clear(name?: string): Fault[];
}

export const controlFaults = (faults: ControlFaultsDeps): ControlRoute[] => [
  controlHandler(listFaults, () => ({ faults: faults.list().map(shown), seams: faults.seams })),
  controlHandler(setFault, ({ body }) => {
    const set = faults.set(body);
    return 'problems' in set ? { refusal: { code: 'invalid_settings', ...set } } : shown(set);
  }),
  controlHandler(clearFaults, () => ({ cleared: faults.clear().map(shown) })),
  controlHandler(clearFault, ({ path: { name } }) => {
    const cleared = faults.clear(name);
    return cleared.length > 0
      ? { cleared: cleared.map(shown) }
      : { refusal: { code: 'fault_not_found', name } };
  }),
];

const shown = (fault: Fault): ShownFault => ({
  id: fault.id,
  seam: fault.seam,
  effect: fault.written,
  setAt: new Date(fault.setAtMs).toISOString(),
  timesLeft: fault.timesLeft ?? null,
  until: fault.untilMs === undefined ? null : new Date(fault.untilMs).toISOString(),
  struck: fault.struck,
});
