/** The debug log: the last calls of the plugin, for the site's administrator. */
import type { Clock } from '../../lib/clock.ts';
import { siteSettings } from '../config.ts';
import type { SiteStore } from '../store.ts';
import type { DebugLine } from './plugin.ts';
import type { PluginSettings } from './plugin-settings.ts';

/** A sentence of ours fits; what a service says can be of any length. */
const LINE_MAX = 1_000;

export function createDebugLog(deps: { store: SiteStore; clock: Clock; settings(): PluginSettings }) {
  const insert = deps.store.prepare<[number, string]>('insert into debug_lines (at, text) values (?, ?)');
  const cut = deps.store.prepare<[number]>(
    'delete from debug_lines where id <= (select max(id) from debug_lines) - ?',
  );
  const list = deps.store.prepare<[], DebugLine>('select at as atMs, text from debug_lines order by id desc');
  return {
    /** Nothing, unless the settings want it. The brand's key is taken out of every line. */
    write(text: string): void {
      const { debugLogging, apiKey } = deps.settings();
      if (!debugLogging) return;
      const clean = apiKey === '' ? text : text.replaceAll(apiKey, '[key]');
      insert.run(deps.clock.now(), clean.replace(/\p{Cc}/gu, ' ').slice(0, LINE_MAX));
      cut.run(siteSettings.debugLinesMax);
    },
    list: (): DebugLine[] => list.all(),
  };
}
