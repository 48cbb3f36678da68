/** What all shortcodes have in common: their frame, and what they say when there is nothing to show. */
import type { PluginRefusal } from '../../plugin/refusals.ts';
import { type Html, html } from '../html.ts';
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

export const empty = (what: string, todo: Html): Html =>
  html`<div class="rw-empty"><strong>${what}</strong> ${todo}</div>`;
