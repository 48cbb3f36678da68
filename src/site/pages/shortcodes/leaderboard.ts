/** `[rewards_leaderboard metric= period= limit=]`: who did most. */
import { metricNames, periodNames } from '../../plugin/board-names.ts';
import type { Leaderboard } from '../../plugin/plugin.ts';
import { plural } from '../format.ts';
import { type Html, html } from '../html.ts';
import { empty, frame, type ShortcodeView } from './frame.ts';

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
