/** What the site's content needs: its store, the time, and whom to tell. */
import type { Hook } from '../plugin/hooks.ts';
import type { Occurrence } from '../plugin/plugin.ts';
import type { SiteStore } from '../store.ts';

export interface ContentDeps {
  store: SiteStore;
  now: () => number;
  /** Tells the plugin that something happened; the result is not waited for. */
  fire: (hook: Hook, occurrence: Occurrence) => void;
}

/** What a person wrote that cannot be taken: what is wrong, and what to do. */
export interface ContentProblem {
  field: string;
  message: string;
  fix: string;
}

export type Written<Value> = { ok: true; value: Value } | { ok: false; problems: ContentProblem[] };
