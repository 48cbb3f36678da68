/** What the buttons of shortcodes do without script: a plain form, and a notice on the page from which it came. */
import type { Hono } from 'hono';
import type { SiteUser } from '../../accounts/users.ts';
import type { Plugin } from '../../plugin/plugin.ts';
import type { Outcome } from '../../plugin/refusals.ts';
import { type CallName, callNames, doneText } from '../call-form.ts';
import type { PageKit, SentForm } from '../page-kit.ts';

type Call = (plugin: Plugin, user: SiteUser, form: SentForm) => Promise<Outcome<object>>;

const calls: Record<CallName, Call> = {
  checkin: (plugin, user) => plugin.checkIn(user),
  redeem: (plugin, user, { field }) => plugin.redeem(user, field('perkId').slice(0, 64)),
  'claim-milestone': (plugin, user, { field }) =>
    plugin.claimMilestone(user, Number(field('milestoneDays').slice(0, 4)) || 0),
};

export function addCallActions(app: Hono, kit: PageKit): void {
  for (const name of callNames)
    app.post(`/actions/${name}`, async (context) => {
      const form = await kit.form(context);
      if (form instanceof Response) return form;
      const { visit, field } = form;
      if (!visit.user) return kit.goBack(form, visit.at('/login'));
      const outcome = await calls[name](kit.plugin, visit.user, form);
      const notice = outcome.ok
        ? { text: doneText(name, { ...outcome.value }) }
        : { text: outcome.refusal.message, isBad: true };
      return kit.goBack(form, field('back'), notice);
    });
}
