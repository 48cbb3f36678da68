/** Networks of the operator's own, which a production service may send requests to. */
import { namesOf } from '../../lib/setting.ts';
import { startSettings } from '../../production/settings.ts';
import type { CommandContext } from '../machine/context.ts';

/** The networks that `start` is given by the same variable; a URL that leads to others is refused at once. */
export function ownNetworks({ runtime }: CommandContext): string[] {
  const { outgoingNetworks } = startSettings;
  const text = runtime.env[namesOf(outgoingNetworks).variable];
  return text === undefined ? [] : (outgoingNetworks.kind.parse(text) ?? []);
}
