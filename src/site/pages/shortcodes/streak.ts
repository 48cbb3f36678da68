/** `[rewards_streak]`: days in a row, the way to the next milestone, and the button for today. */
import type { Milestone, Streak } from '../../plugin/plugin.ts';
import { callForm } from '../call-form.ts';
import { count, plural, rwt } from '../format.ts';
import { type Html, html } from '../html.ts';
import { frame, type ShortcodeView } from './frame.ts';

type StreakToday = Streak & { checkedInToday: boolean };

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
