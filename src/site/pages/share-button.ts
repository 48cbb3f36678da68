/** The share button. Contract: class `rewards-share`, attribute `data-url`. Without script it leads to a small page. */
import { type Html, html } from './html.ts';
import type { Visit } from './visit.ts';

/** `path`: of the page that is shared, below the site's base. */
export const shareButton = (visit: Visit, path: string): Html =>
  html`<form method="get" action="${visit.at('/share')}"><input type="hidden" name="url" value="${visit.at(path)}">
<button type="submit" class="rewards-share quiet" data-url="${visit.at(path)}">Share this page</button></form>`;
