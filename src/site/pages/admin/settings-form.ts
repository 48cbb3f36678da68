/** Reads the plugin's settings from the fields of the settings page. */
import type { HookedEvent, PluginSettings } from '../../plugin/settings.ts';
import type { SentForm } from '../page-kit.ts';

/** An empty key keeps the one that is there: the page does not show it. */
export function settingsIn(form: SentForm, now: PluginSettings): PluginSettings {
  const { field } = form;
  const isTicked = (name: string) => field(name) !== '';
  const apiKey = isTicked('forgetKey') ? '' : field('apiKey').trim() || now.apiKey;
  return {
    brandId: field('brandId').trim(),
    eventHandlerUrl: field('eventHandlerUrl').trim(),
    servicesUrl: field('servicesUrl').trim(),
    domain: field('domain').trim(),
    apiKey,
    debugLogging: isTicked('debugLogging'),
    events: eventsIn(form),
  };
}

/** Rows without a name are left out. */
function eventsIn({ field, names }: SentForm): HookedEvent[] {
  const numbers = names
    .flatMap((name) => /^event-(\d{1,4})$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((one, other) => one - other);
  return numbers.flatMap((number) => {
    const eventName = field(`event-${number}`).trim();
    if (eventName === '') return [];
    const hook = field(`own-${number}`).trim() || field(`hook-${number}`);
    const fromPages = field(`pages-${number}`) !== '';
    return [{ hook, eventName, enabled: field(`enabled-${number}`) !== '', ...(fromPages && { fromPages }) }];
  });
}
