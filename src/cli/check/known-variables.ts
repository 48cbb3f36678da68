/** Every environment variable that this program reads. */
import { namesOf } from '../../lib/setting.ts';
import { deployerKey, startRows } from '../../production/settings.ts';
import type { CommandContext } from '../machine/context.ts';

/** Variables that we set for programs under test, or that belong to no option. */
const OTHER_VARIABLES = [
  ...['REWARDS_CONTROL_TOKEN', 'REWARDS_CONTROL_URL', 'REWARDS_EVENT_HANDLER_URL', 'REWARDS_RELAYER_URL'],
  ...['REWARDS_REGISTER_URL', 'REWARDS_SERVICES_URL', 'REWARDS_RWT_ADDRESS', 'REWARDS_BRAND_ID'],
  ...['REWARDS_API_KEY', 'REWARDS_DOMAIN', 'REWARDS_CRASH_AT'],
];

/** The names: of every option, of the secrets without an option, and the ones above. */
export const knownVariables = ({ optionVariables }: CommandContext): Set<string> =>
  new Set([
    ...optionVariables,
    ...[...startRows.map(([, row]) => row), deployerKey].map((row) => namesOf(row).variable),
    ...OTHER_VARIABLES,
  ]);
