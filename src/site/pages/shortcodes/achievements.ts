/** The dashboard's achievements: what is reached, and how far the rest is. */
import type { Achievement } from '../../plugin/plugin.ts';
import { count } from '../format.ts';
import { type Html, html } from '../html.ts';
import { empty, frame, type ShortcodeView } from './frame.ts';

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
