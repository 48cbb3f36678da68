/** What each shortcode shows, in a frame that all have in common. */
import {
  type Achievement,
  type Balance,
  type Leaderboard,
  type ListedPerk,
  type Milestone,
  metricNames,
  type PluginRefusal,
  periodNames,
  type Streak,
} from '../../plugin/plugin.ts';
import { callForm } from '../call-form.ts';
import { count, day, plural, rwt, spelledOut } from '../format.ts';
import { type Html, html } from '../html.ts';
import { perkIcon } from '../icons.ts';
import type { Visit } from '../visit.ts';

export interface ShortcodeView {
  visit: Visit;
  /** Unique in its page: the script finds the shortcode again by it. */
  id: string;
  /** For administrators: what is wrong with the parameters. */
  notes: string[];
}

export function frame({ visit, id, notes }: ShortcodeView, title: string, body: Html): Html {
  return html`<section class="rw" id="${id}" data-live tabindex="-1" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${visit.isAdministrator && notes.map((note) => html`<p class="rw-note"><strong>For administrators:</strong> ${note}</p>`)}
${body}
</section>`;
}

/** `what`: as in "Log in to see your balance". */
export const loginInvitation = ({ visit }: ShortcodeView, what: string): Html =>
  html`<p>Log in to see ${what}.</p>
<p class="buttons"><a class="button" href="${visit.comingBack('/login')}">Log in</a> <a href="${visit.comingBack('/register')}">Make an account</a></p>`;

/** Why there is nothing to show: a visitor learns what to do, an administrator also the reason. */
export function refusalBody({ visit }: ShortcodeView, refusal: PluginRefusal): Html {
  if (refusal.code === 'not_configured')
    return html`<p>Rewards are not set up on this site yet.</p>
${visit.isAdministrator && html`<p><a href="${visit.at('/admin/settings')}">Set them up</a></p>`}`;
  return html`<p>The rewards service does not answer just now. Nothing is lost: <a href="${visit.here}">try again</a> in a minute.</p>
${visit.isAdministrator && html`<p class="rw-note"><strong>For administrators:</strong> ${refusal.message}</p>`}`;
}

const empty = (what: string, todo: Html): Html =>
  html`<div class="rw-empty"><strong>${what}</strong> ${todo}</div>`;

/** `[rewards_balance]`: what the user has and where it is; `isLong`: with the list of what it came from. */
export function balanceHtml(view: ShortcodeView, balance: Balance, { isLong }: { isLong: boolean }): Html {
  const { walletAddress, history } = balance;
  return frame(
    view,
    'Your balance',
    html`<p class="rw-figure">${count(balance.balance)} <small>RWT</small></p>
${walletAddress ? html`<p><small>In your wallet <span class="mono">${walletAddress}</span></small></p>` : html`<p><small>A wallet is made for you with your first reward.</small></p>`}
${isLong && historyHtml(history)}`,
  );
}

function historyHtml(history: Balance['history']): Html {
  if (history.length === 0)
    return empty('Nothing earned yet', html`Check in, write a comment or order something: it appears here.`);
  return html`<div class="scroll" tabindex="0" role="group" aria-label="What you earned"><table>
<caption class="hidden">What you earned, newest first</caption>
<thead><tr><th scope="col">For</th><th scope="col">When</th><th scope="col" class="number">Amount</th></tr></thead>
<tbody>${history.map(
    ({ eventType, amount, atMs }) =>
      html`<tr><td>${spelledOut(eventType)}</td><td>${day(atMs)}</td><td class="number">${amount > 0 ? '+' : ''}${rwt(amount)}</td></tr>`,
  )}</tbody></table></div>`;
}

type StreakToday = Streak & { checkedInToday: boolean };

/** `[rewards_streak]`: days in a row, the way to the next milestone, and the button for today. */
export function streakHtml(view: ShortcodeView, streak: StreakToday): Html {
  const { currentStreak, multiplier, checkedInToday } = streak;
  const checkIn = checkedInToday
    ? html`<p class="rw-done"><strong>✓ Checked in today.</strong> Come back tomorrow.</p>`
    : callForm(view.visit, {
        name: 'checkin',
        button: html`<button type="submit">Check in for today</button>`,
      });
  return frame(
    view,
    'Your streak',
    html`<div class="rw-row">
<p class="rw-figure">${count(currentStreak)} <small>${currentStreak === 1 ? 'day' : 'days'} in a row</small></p>
<span class="rw-pill">points × ${count(multiplier)}</span>
</div>
${weekHtml(streak)}
${milestoneHtml(streak)}
${streak.unclaimedMilestones.map((milestone) => claimHtml(view, milestone))}
${checkIn}
${currentStreak === 0 && !checkedInToday && html`<p><small>Your first check-in starts a streak. Every day in a row counts a little more.</small></p>`}`,
  );
}

/** The seven days among which today is. */
function weekHtml({ currentStreak, checkedInToday }: StreakToday): Html {
  const next = checkedInToday ? 0 : currentStreak + 1;
  const today = checkedInToday ? currentStreak : currentStreak + 1;
  const first = Math.floor((Math.max(today, 1) - 1) / 7) * 7 + 1;
  const days = Array.from({ length: 7 }, (_, index) => first + index);
  return html`<ol class="rw-days" aria-hidden="true">${days.map(
    (day) => html`<li class="${day <= currentStreak ? 'done' : day === next ? 'next' : ''}">${day}</li>`,
  )}</ol>`;
}

function milestoneHtml({ nextMilestone, currentStreak }: Streak): Html | false {
  if (!nextMilestone) return false;
  const { days, bonus } = nextMilestone;
  const text = `${plural(Math.max(days - currentStreak, 0), 'more day')} to a bonus of ${rwt(bonus)}`;
  return html`<div><progress max="${days}" value="${Math.min(currentStreak, days)}" aria-label="${text}"></progress>
<p><small>${text}</small></p></div>`;
}

const claimHtml = ({ visit }: ShortcodeView, { days, bonus }: Milestone): Html =>
  html`<div class="rw-claim rw-row"><p><strong>${plural(days, 'day')} in a row!</strong> A bonus of ${rwt(bonus)} is yours.</p>
${callForm(visit, {
  name: 'claim-milestone',
  fields: { milestoneDays: String(days) },
  button: html`<button type="submit">Claim ${rwt(bonus)}</button>`,
})}</div>`;

/** The dashboard's achievements: what is reached, and how far the rest is. */
export function achievementsHtml(view: ShortcodeView, achievements: Achievement[]): Html {
  if (achievements.length === 0)
    return frame(view, 'Your achievements', empty('None to reach yet', html`The shop has not set any up.`));
  const reached = achievements.filter(({ isUnlocked }) => isUnlocked).length;
  return frame(
    view,
    'Your achievements',
    html`<p class="rw-kind">${reached} of ${achievements.length} reached</p>
<ul class="rw-perks">${achievements.map(
      (one) => html`<li><article class="rw-perk"><h3>${one.name}</h3>
${
  one.isUnlocked
    ? html`<p class="rw-done"><strong>✓ Reached</strong></p>`
    : html`<div><progress max="${one.threshold}" value="${Math.min(one.currentProgress, one.threshold)}" aria-label="${one.name}"></progress>
<small>${count(one.currentProgress)} of ${count(one.threshold)}</small></div>`
}</article></li>`,
    )}</ul>`,
  );
}

/** `[rewards_perks category=]`: what points can be turned into. */
export const perkCategories = ['all', 'digital', 'physical', 'exclusive'] as const;
export type PerkCategory = (typeof perkCategories)[number];

/** What the service says of a perk without a limit. */
const UNLIMITED = 999_999;

/** `balance`: RWT of the user; undefined for a guest, and where it is not known. */
export function perksHtml(
  view: ShortcodeView,
  perks: ListedPerk[],
  { category, balance }: { category: PerkCategory; balance: number | undefined },
): Html {
  const title = category === 'all' ? 'Perks' : `${spelledOut(category)} perks`;
  return frame(
    view,
    title,
    html`${balance !== undefined && html`<p>You have <strong>${rwt(balance)}</strong>.</p>`}
${
  perks.length === 0
    ? empty(
        'No perks here yet',
        html`New ones come now and then. <a href="${view.visit.at('/perks')}">See all perks</a>.`,
      )
    : html`<ul class="rw-perks">${perks.map((perk) => html`<li>${perkHtml(view, perk, balance)}</li>`)}</ul>`
}`,
  );
}

function perkHtml(view: ShortcodeView, perk: ListedPerk, balance: number | undefined): Html {
  const { name, description, cost, category, available } = perk;
  return html`<article class="rw-perk">${perkIcon(category)}
<h3>${name}</h3>
<p class="dim">${description}</p>
<p class="rw-row"><span class="rw-cost">${rwt(cost)}</span> <small>${stock(available)}</small></p>
${offer(view, perk, balance)}</article>`;
}

const stock = (available: number) =>
  available >= UNLIMITED ? '' : available > 0 ? `${count(available)} left` : 'Sold out';

function offer({ visit }: ShortcodeView, perk: ListedPerk, balance: number | undefined): Html | false {
  const { id, name, cost, available } = perk;
  if (available <= 0) return false;
  if (!visit.user)
    return html`<a class="button quiet" href="${visit.comingBack('/login')}">Log in to redeem<span class="hidden"> ${name}</span></a>`;
  if (balance !== undefined && balance < cost)
    return html`<div><progress max="${cost}" value="${balance}" aria-label="Your way to ${name}"></progress><small>${rwt(cost - balance)} to go</small></div>`;
  return callForm(visit, {
    name: 'redeem',
    fields: { perkId: id },
    button: html`<button type="submit">Redeem<span class="hidden"> ${name}</span></button>`,
  });
}

/** `[rewards_leaderboard metric= period= limit=]`: who did most. */
export function leaderboardHtml(view: ShortcodeView, board: Leaderboard): Html {
  const { metric, period, leaderboard, total } = board;
  const isMe = (identifier: string) => identifier === view.visit.user?.email;
  const title = `${metricNames[metric]}: ${periodNames[period].toLowerCase()}`;
  if (leaderboard.length === 0)
    return frame(view, title, empty('Nobody yet', html`The first to check in or to earn something leads.`));
  return frame(
    view,
    title,
    html`<table class="rw-board"><caption class="hidden">${title}</caption>
<thead><tr><th scope="col"><span aria-hidden="true">#</span><span class="hidden">Rank</span></th><th scope="col">Name</th><th scope="col" class="number">${metricNames[metric]}</th></tr></thead>
<tbody>${leaderboard.map(
      (entry) =>
        html`<tr class="${isMe(entry.userIdentifier) ? 'me' : ''}"><td>${entry.rank}</td><td>${entry.displayName}${isMe(entry.userIdentifier) && ' (you)'}</td><td class="number">${entry.formattedValue}</td></tr>`,
    )}</tbody></table>
${total > leaderboard.length && html`<p><small>The first ${leaderboard.length} of ${plural(total, 'member')}.</small></p>`}`,
  );
}

/** `[rewards_dashboard]`: everything about one user, in five tabs. Tabs are links, so that each has an address. */
const dashboardTabs = {
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
