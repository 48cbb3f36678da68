/** Every variable of the environment that means something to this program. */

import type { Runtime } from '../machine/context.ts';
import { variableOf } from '../machine/options.ts';
import { buildProgram, everyCommand } from '../machine/program.ts';
import { secretOptions } from '../start/options.ts';

/** Set by us for programs under test, or read apart from any option. */
const OTHER_VARIABLES = [
  ...['REWARDS_CONTROL_TOKEN', 'REWARDS_CONTROL_URL', 'REWARDS_EVENT_HANDLER_URL', 'REWARDS_RELAYER_URL'],
  ...['REWARDS_REGISTER_URL', 'REWARDS_SERVICES_URL', 'REWARDS_RWT_ADDRESS', 'REWARDS_BRAND_ID'],
  ...['REWARDS_API_KEY', 'REWARDS_DOMAIN', 'REWARDS_CRASH_AT'],
];

/** Their names, those of all commands together. */
export function knownVariables(runtime: Runtime): Set<string> {
  const { program } = buildProgram(runtime, async () => {});
  const ofOptions = everyCommand(program).flatMap(({ options }) => options.map(variableOf));
  const ofSecrets = Object.values(secretOptions).map(({ variable }) => variable);
  return new Set([...ofOptions, ...ofSecrets, ...OTHER_VARIABLES].filter((name) => name !== undefined));
}
