/** Values that only the running stack knows, and which options and arguments take them. */

export const kinds = ['brands', 'events', 'users', 'sessions', 'snapshots'] as const;
export type Kind = (typeof kinds)[number];

const OF_OPTION: Record<string, Kind> = { '--brand': 'brands', '--user': 'users', '--as': 'users' };
const OF_ARGUMENT: Record<string, Kind> = { session: 'sessions', user: 'users' };

export const kindOfOption = (long: string): Kind | undefined => OF_OPTION[long];

/** By the argument's name, and for names of many meanings by its command. */
export function kindOfArgument(path: string, name: string): Kind | undefined {
  if (path === 'send-event' && name === 'type') return 'events';
  if (/^brand /.test(path) && /^(brand|name)$/.test(name)) return 'brands';
  if (/^snapshot /.test(path)) return 'snapshots';
  return OF_ARGUMENT[name];
}
