/** `[rewards_dashboard]`: everything about one user, in five tabs. Tabs are links, so that each has an address. */
import { type Html, html } from '../html.ts';
import type { Visit } from '../visit.ts';

export const dashboardTabs = {
  balance: 'Balance',
  streak: 'Streak',
  leaderboard: 'Leaderboard',
  perks: 'Perks',
  achievements: 'Achievements',
} as const;
export type DashboardTab = keyof typeof dashboardTabs;

const isTab = (name: string): name is DashboardTab => Object.hasOwn(dashboardTabs, name);

/** As the page's address says; the first where it says nothing. */
export function tabOf({ here }: Pick<Visit, 'here'>): DashboardTab {
  const asked = new URL(here, 'http://site.invalid').searchParams.get('tab') ?? '';
  return isTab(asked) ? asked : 'balance';
}

/** `content`: of the open tab. */
export function dashboardHtml(visit: Visit, id: string, content: Html): Html {
  const open = tabOf(visit);
  const addressOf = (tab: string) => {
    const url = new URL(visit.here, 'http://site.invalid');
    url.searchParams.set('tab', tab);
    return url.pathname + url.search;
  };
  return html`<div class="rw-dashboard"><nav aria-label="Your rewards"><ul class="rw-tabs" id="${id}-tabs">${Object.entries(
    dashboardTabs,
  ).map(
    ([tab, name]) =>
      html`<li><a href="${addressOf(tab)}"${tab === open && html` aria-current="page"`}>${name}</a></li>`,
  )}</ul></nav>
${content}</div>`;
}
