/** `[rewards_perks category=]`: what points can be turned into. */
import type { ListedPerk } from '../../plugin/plugin.ts';
import { callForm } from '../call-form.ts';
import { count, rwt, spelledOut } from '../format.ts';
import { type Html, html } from '../html.ts';
import { perkIcon } from '../icons.ts';
import { empty, frame, type ShortcodeView } from './frame.ts';

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
