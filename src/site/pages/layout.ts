/** The frame of every page: head, foot, the notice, and the way to the pages' own files. */
import { scriptAsset, styleAsset } from './assets/assets.ts';
import { type Html, html } from './html.ts';
import { brandIcon } from './icons.ts';
import type { Notice } from './notices.ts';
import type { Visit } from './visit.ts';

/** Pages load their own style, script and pictures, and reach only this site. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  // The empty icon: without one, browsers ask for /favicon.ico.
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export interface PageContent {
  title: string;
  main: Html;
  /** Path of the link in the navigation that leads here. */
  section?: string | undefined;
}

/** What goes into the head of a page with shortcodes or a share button. `shareEvent`: none, when pages may send none. */
export const headTags = (visit: Visit, shareEvent: string | undefined): Html =>
  html`<meta name="rewards-site" content="${JSON.stringify({
    ajax: visit.at('/wp-admin/admin-ajax.php'),
    nonce: visit.nonce('ajax'),
    event: shareEvent,
    isLoggedIn: visit.user !== undefined,
  })}">
<link rel="stylesheet" href="${visit.at(styleAsset.path)}">
<script src="${visit.at(scriptAsset.path)}" defer></script>`;

export function layout(
  site: { name: string },
  visit: Visit,
  page: PageContent & { notice: Notice | undefined; shareEvent: string | undefined },
): Html {
  const { title, main, section, notice } = page;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title === site.name ? title : `${title} – ${site.name}`}</title>
<link rel="icon" href="data:,">
${headTags(visit, page.shareEvent)}
</head>
<body>
<a class="skip button" href="#main">Skip to the content</a>
<header class="site-head"><div class="wide">
<a class="brand" href="${visit.at('/')}">${brandIcon}<span>${site.name}</span></a>
${navigation(visit, section)}
</div></header>
<main id="main" tabindex="-1"><div class="wide">
<div id="notice" class="notice${notice?.isBad && ' bad'}" role="status">${notice?.text}</div>
${main}
</div></main>
<footer class="site-foot"><div class="wide">
<p>${site.name}. Points are paid as RWT.</p>
${visit.isAdministrator && html`<ul><li><a href="${visit.at('/admin/posts')}">Posts</a></li><li><a href="${visit.at('/admin/settings')}">Rewards settings</a></li></ul>`}
</div></footer>
</body>
</html>
`;
}

function navigation(visit: Visit, section: string | undefined): Html {
  const link = (path: string, name: string) =>
    html`<li><a href="${visit.at(path)}"${path === section && html` aria-current="page"`}>${name}</a></li>`;
  const account = visit.user
    ? html`${link('/dashboard', 'My rewards')}${link('/profile', visit.user.displayName)}
<li><form method="post" action="${visit.at('/logout')}"><input type="hidden" name="_nonce" value="${visit.nonce('form')}"><button class="plain" type="submit">Log out</button></form></li>`
    : html`${link('/login', 'Log in')}${link('/register', 'Join')}`;
  return html`<nav aria-label="Main"><ul>${link('/', 'Journal')}${link('/shop', 'Shop')}${link('/leaderboard', 'Leaderboard')}${link('/perks', 'Perks')}</ul>
<ul class="account">${account}</ul></nav>`;
}
