/** Every variable of the environment that means something to this program. */
import { namesOf } from '../../lib/setting.ts';
import { startRows } from '../../production/settings.ts';
import type { CommandContext } from '../machine/context.ts';

/** Set by us for programs under test, or read apart from any option. */
const OTHER_VARIABLES = [
  ...['REWARDS_CONTROL_TOKEN', 'REWARDS_CONTROL_URL', 'REWARDS_EVENT_HANDLER_URL', 'REWARDS_RELAYER_URL'],
  ...['REWARDS_REGISTER_URL', 'REWARDS_SERVICES_URL', 'REWARDS_RWT_ADDRESS', 'REWARDS_BRAND_ID'],
  ...['REWARDS_API_KEY', 'REWARDS_DOMAIN', 'REWARDS_CRASH_AT'],
];

/** Their names: those of every option, of secrets that have none, and the others. */
export const knownVariables = ({ optionVariables }: CommandContext): Set<string> =>
  new Set([...optionVariables, ...startRows.map(([, row]) => namesOf(row).variable), ...OTHER_VARIABLES]);
