/** What a host site puts into pages of its own: the plugin's style and script, and what shortcodes show. */
import type { Accounts } from '../accounts/create-accounts.ts';
import type { Plugin } from '../plugin/plugin.ts';
import { headTags } from './layout.ts';
import { createVisits, shareEventOf } from './page-kit.ts';
import { expandShortcodes } from './shortcodes/expand-shortcodes.ts';

export interface HostParts {
  /** Replaces the shortcodes in a page's HTML by what they show to the visitor who asks for the page. */
  expandShortcodes(html: string, request: Request): Promise<string>;
  /** Belongs into the head of such a page, and of one with a share button (class `rewards-share`). */
  headTags(request: Request): string;
}

/** `url`: of the site. Its cookies reach pages below it; anywhere else every visitor is a guest. */
export function createHostParts(
  deps: { plugin: Plugin; accounts: Accounts; now: () => number },
  { url }: { url: string },
): HostParts {
  const visitFor = createVisits(deps, new URL(url).pathname.replace(/\/+$/, ''));
  const visitOf = (request: Request) => visitFor(request, deps.accounts.callerOf(request));
  return {
    expandShortcodes: async (html, request) =>
      String(await expandShortcodes(deps.plugin, visitOf(request), html)),
    headTags: (request) => String(headTags(visitOf(request), shareEventOf(deps.plugin))),
  };
}
