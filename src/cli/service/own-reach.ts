/** Where a production service may send requests beside the open internet and port 443, as its operator says. */
import { namesOf } from '../../lib/setting.ts';
import type { OwnReach } from '../../production/offline/public-reach.ts';
import { startSettings } from '../../production/settings.ts';
import type { CommandContext } from '../machine/context.ts';

/** What `start` is given by the same variables; a URL that leads elsewhere is refused at once. */
export function ownReach({ runtime }: CommandContext): OwnReach {
  const { outgoingNetworks, outgoingPorts } = startSettings;
  const textOf = (setting: typeof outgoingNetworks) => runtime.env[namesOf(setting).variable];
  const listOf = (setting: typeof outgoingNetworks) => {
    const text = textOf(setting);
    return text === undefined ? [] : (setting.kind.parse(text) ?? []);
  };
  return { networks: listOf(outgoingNetworks), ports: listOf(outgoingPorts).map(Number) };
}
