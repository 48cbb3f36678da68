/** Asks the plugin for what a shortcode shows, and draws it. */
import type { SiteUser } from '../../accounts/users.ts';
import type { Outcome, Plugin, PluginRefusal } from '../../plugin/plugin.ts';
import { type Html, html } from '../html.ts';
import type { Visit } from '../visit.ts';
import { leaderboardWish, type Parameters, perkCategory, unknownNotes } from './shortcode-parameters.ts';
import {
  achievementsHtml,
  balanceHtml,
  type DashboardTab,
  dashboardHtml,
  frame,
  leaderboardHtml,
  loginInvitation,
  perksHtml,
  refusalBody,
  type ShortcodeView,
  streakHtml,
  tabOf,
} from './shortcode-views.ts';

export const shortcodeNames = ['dashboard', 'balance', 'streak', 'leaderboard', 'perks'] as const;
export type ShortcodeName = (typeof shortcodeNames)[number];

type Draw = (plugin: Plugin, view: ShortcodeView, given: Parameters) => Promise<Html>;

/** Everything that a page can show: the shortcodes, and the dashboard's achievements. */
const drawings: Record<ShortcodeName | 'achievements', Draw> = {
  async dashboard(plugin, view, given) {
    const { visit, id } = view;
    const noted = { ...view, notes: unknownNotes(given, []) };
    const state = notReady(plugin, noted, 'Your rewards', 'your rewards');
    if (state) return state;
    const tab = tabOf(visit);
    const content = await drawTab(plugin, { ...noted, id: `${id}-${tab}` }, tab);
    return dashboardHtml(visit, id, content);
  },
  balance: (plugin, view, given) => balance(plugin, { ...view, notes: unknownNotes(given, []) }, false),
  streak: (plugin, view, given) =>
    ofUser(
      plugin,
      { ...view, notes: unknownNotes(given, []) },
      {
        title: 'Your streak',
        what: 'your streak and check in',
        ask: (user) => plugin.streak(user),
        draw: streakHtml,
      },
    ),
  async leaderboard(plugin, view, given) {
    const { value: wish, notes } = leaderboardWish(given);
    const board = await plugin.leaderboard(wish);
    return shown({ ...view, notes }, 'Leaderboard', board, leaderboardHtml);
  },
  async perks(plugin, view, given) {
    const { value: category, notes } = perkCategory(given);
    const { user } = view.visit;
    const [perks, balance] = await Promise.all([
      plugin.perks({ category }),
      user ? plugin.balance(user) : undefined,
    ]);
    return shown({ ...view, notes }, 'Perks', perks, (noted, list) =>
      perksHtml(noted, list, { category, balance: balance?.ok ? balance.value.balance : undefined }),
    );
  },
  achievements: (plugin, view) =>
    ofUser(plugin, view, {
      title: 'Your achievements',
      what: 'your achievements',
      ask: (user) => plugin.achievements(user),
      draw: achievementsHtml,
    }),
};

/** Draws a shortcode for the visitor of the page. `id`: unique in the page. */
export const drawShortcode = (
  plugin: Plugin,
  wish: { visit: Visit; id: string; name: ShortcodeName | 'achievements'; given: Parameters },
): Promise<Html> => drawings[wish.name](plugin, { visit: wish.visit, id: wish.id, notes: [] }, wish.given);

const drawTab = (plugin: Plugin, view: ShortcodeView, tab: DashboardTab): Promise<Html> =>
  tab === 'balance' ? balance(plugin, view, true) : drawings[tab](plugin, view, {});

const balance = (plugin: Plugin, view: ShortcodeView, isLong: boolean) =>
  ofUser(plugin, view, {
    title: 'Your balance',
    what: 'your balance',
    ask: (user) => plugin.balance(user),
    draw: (noted, value) => balanceHtml(noted, value, { isLong }),
  });

/** What stands there instead when the visitor is not logged in, or there is nothing to ask for. */
function notReady(plugin: Plugin, view: ShortcodeView, title: string, what: string): Html | undefined {
  if (plugin.settings.read().brandId === '')
    return frame(view, title, refusalBody(view, { code: 'not_configured', message: '' }));
  return view.visit.user ? undefined : frame(view, title, loginInvitation(view, what));
}

/** What is a user's own: `title` heads it also when there is nothing to show. */
async function ofUser<Value>(
  plugin: Plugin,
  view: ShortcodeView,
  part: {
    title: string;
    what: string;
    ask: (user: SiteUser) => Promise<Outcome<Value>>;
    draw: (view: ShortcodeView, value: Value) => Html;
  },
): Promise<Html> {
  const { user } = view.visit;
  const state = notReady(plugin, view, part.title, part.what);
  if (state || !user) return state ?? html``;
  return shown(view, part.title, await part.ask(user), part.draw);
}

function shown<Value>(
  view: ShortcodeView,
  title: string,
  outcome: Outcome<Value>,
  draw: (view: ShortcodeView, value: Value) => Html,
): Html {
  if (outcome.ok) return draw(view, outcome.value);
  const refusal: PluginRefusal = outcome.refusal;
  return frame(view, title, refusalBody(view, refusal));
}
