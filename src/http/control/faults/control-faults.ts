/** Faults over the control API. */
import type { Handler } from 'hono';
import { faultWish } from '../../../contract/control/faults.ts';
import type { SettingProblem } from '../../../rules/brands/settings.ts';
import { readSettings, refuse } from '../refuse.ts';

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
  seams: { seam: string; is: string; effects: { effect: string; does: string }[] }[];
  set(wish: {
    seam: string;
    effect?: string | undefined;
    times?: number | undefined;
    for?: string | undefined;
  }): Fault | { problems: SettingProblem[] };
  list(): Fault[];
  /** By id, by seam, or all. */
  clear(name?: string): Fault[];
}

export function controlFaults(faults: ControlFaultsDeps): Record<string, Handler> {
  return {
    listFaults: (context) => context.json({ faults: faults.list().map(faultReply), seams: faults.seams }),
    async setFault(context) {
      const body = await readSettings(context);
      if (!body) return refuse(context, { code: 'invalid_body' });
      const wish = faultWish.safeParse(body);
      if (!wish.success) {
        const problems = wish.error.issues.flatMap((issue): SettingProblem[] => {
          const named = issue.code === 'unrecognized_keys' ? issue.keys : [issue.path.join('.')];
          return named.map((setting) => ({ setting, message: issue.message }));
        });
        return refuse(context, { code: 'invalid_settings', problems });
      }
      const set = faults.set(wish.data);
      if ('problems' in set) return refuse(context, { code: 'invalid_settings', problems: set.problems });
      return context.json(faultReply(set), 201);
    },
    clearFaults: (context) => context.json({ cleared: faults.clear().map(faultReply) }),
    clearFault(context) {
      const name = context.req.param('name') ?? '';
      const cleared = faults.clear(name);
      if (cleared.length === 0) return refuse(context, { code: 'fault_not_found', name });
      return context.json({ cleared: cleared.map(faultReply) });
    },
  };
}

const faultReply = ({ id, seam, written, setAtMs, timesLeft, untilMs, struck }: Fault) => ({
  ...{ id, seam, effect: written },
  setAt: new Date(setAtMs).toISOString(),
  timesLeft: timesLeft ?? null,
  until: untilMs === undefined ? null : new Date(untilMs).toISOString(),
  struck,
});
