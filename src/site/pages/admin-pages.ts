/** `/admin/posts` and `/admin/settings`, for administrators: guests log in first, other users learn that the page is not theirs. */
import type { Context, Hono } from 'hono';
import { contentLimits } from '../config.ts';
import type { ContentProblem } from '../content/content-deps.ts';
import type { Post } from '../content/posts.ts';
import { hooks, isBuiltIn } from '../plugin/hooks.ts';
import type { HookedEvent, PluginSettings, SettingsProblem } from '../plugin/plugin-settings.ts';
import { area, bareSelect, field, guard, whyIn } from './fields.ts';
import { day, minute } from './format.ts';
import { type Html, html } from './html.ts';
import type { PageKit, SentForm } from './page-kit.ts';
import type { Visit } from './visit.ts';

function onlyAdministrators(
  kit: PageKit,
  context: Context,
  work: () => Response | Promise<Response>,
): Response | Promise<Response> {
  const visit = kit.visitOf(context);
  if (visit.isAdministrator) return work();
  if (!visit.user) return kit.goBack({ visit }, visit.comingBack('/login'));
  return kit.page(context, {
    status: 403,
    title: 'For administrators',
    main: html`<div class="page-head"><h1>For administrators</h1><p class="lead">This page changes the site. Ask an administrator of the site to do it, or to make you one.</p></div>
<p><a class="button" href="${visit.at('/dashboard')}">Go to your rewards</a></p>`,
  });
}

interface Draft {
  id?: number | undefined;
  title: string;
  body: string;
}

/** `/admin/posts`: writes, changes, publishes and withdraws posts. */
export function addAdminPosts(app: Hono, kit: PageKit): void {
  const { posts } = kit.content;
  app.get('/admin/posts', (context) =>
    onlyAdministrators(kit, context, () => {
      const edited = posts.byId(Number(context.req.query('edit')) || 0);
      return showDraft(kit, context, edited ?? { title: '', body: '' }, []);
    }),
  );
  const post = (path: string, work: (context: Context, form: SentForm) => Response) =>
    app.post(path, async (context) => {
      const form = await kit.form(context);
      if (form instanceof Response) return form;
      return onlyAdministrators(kit, context, () => work(context, form));
    });
  post('/admin/posts', (context, form) => {
    const { visit, field: sent } = form;
    const wish: Draft = { title: sent('title'), body: sent('body').replaceAll('\r\n', '\n') };
    const id = Number(sent('id')) || undefined;
    const written = id === undefined ? posts.add(visit.user ?? null, wish) : posts.edit(id, wish);
    if (!written) return kit.notFound(context);
    if (!written.ok) return showDraft(kit, context, { ...wish, id }, written.problems);
    if (sent('publish') !== '') posts.publish(written.value.id);
    const text = sent('publish') === '' ? 'Saved.' : `“${written.value.title}” is published.`;
    return kit.goBack(form, visit.at('/admin/posts'), { text });
  });
  post('/admin/posts/publish', (context, form) => {
    const done = posts.publish(Number(form.field('id')) || 0);
    if (!done) return kit.notFound(context);
    return kit.goBack(form, form.visit.at('/admin/posts'), { text: `“${done.title}” is published.` });
  });
  post('/admin/posts/withdraw', (context, form) => {
    const done = posts.withdraw(Number(form.field('id')) || 0);
    if (!done) return kit.notFound(context);
    return kit.goBack(form, form.visit.at('/admin/posts'), { text: `“${done.title}” is a draft again.` });
  });
}

function showDraft(kit: PageKit, context: Context, draft: Draft, problems: ContentProblem[]): Response {
  const visit = kit.visitOf(context);
  return kit.page(context, {
    status: problems.length > 0 ? 400 : 200,
    title: 'Posts',
    section: '/admin/posts',
    main: html`<div class="stack"><div class="page-head"><h1>Posts</h1><p class="lead">What is published for the first time is an event; changing it later is none.</p></div>
${postTable(visit, kit.content.posts.all())}
${postForm(visit, draft, problems)}</div>`,
  });
}

function postTable(visit: Visit, posts: Post[]): Html {
  if (posts.length === 0) return html`<p class="dim">There are no posts yet. Write the first one below.</p>`;
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Posts"><table><thead><tr><th scope="col">Title</th><th scope="col">State</th><th scope="col">Change</th></tr></thead><tbody>${posts.map(
    (post) => html`<tr><td><a href="${visit.at(`/posts/${post.slug}`)}">${post.title}</a></td>
<td>${post.publishedAtMs === null ? 'Draft' : html`Published ${day(post.publishedAtMs)}`}</td>
<td><div class="buttons"><a href="${visit.at('/admin/posts')}?edit=${post.id}#write">Edit<span class="hidden"> ${post.title}</span></a>${stateForm(visit, post)}</div></td></tr>`,
  )}</tbody></table></div>`;
}

function stateForm(visit: Visit, { id, title, publishedAtMs }: Post): Html {
  const [path, verb] = publishedAtMs === null ? ['publish', 'Publish'] : ['withdraw', 'Make a draft'];
  return html`<form method="post" action="${visit.at(`/admin/posts/${path}`)}">${guard(visit)}<input type="hidden" name="id" value="${id}"><button class="plain" type="submit">${verb}<span class="hidden">: ${title}</span></button></form>`;
}

const postForm = (visit: Visit, draft: Draft, problems: ContentProblem[]): Html =>
  html`<section class="card stack" aria-labelledby="write"><h2 id="write">${draft.id === undefined ? 'Write a post' : 'Change a post'}</h2>
<form class="fields" method="post" action="${visit.at('/admin/posts')}">${guard(visit)}${draft.id !== undefined && html`<input type="hidden" name="id" value="${draft.id}">`}
${field({ name: 'title', label: 'Title', value: draft.title, required: true, maxLength: contentLimits.titleLength, why: whyIn(problems, 'title') })}
${area({ name: 'body', label: 'Text', value: draft.body, rows: 12, maxLength: contentLimits.postLength, why: whyIn(problems, 'body'), hint: 'Blank lines part paragraphs. ## makes a heading, - a list, > a quote. Shortcodes such as [rewards_streak] are expanded.' })}
<div class="buttons"><button type="submit" name="publish" value="yes">Save and publish</button> <button class="quiet" type="submit">Save only</button>${draft.id !== undefined && html` <a href="${visit.at('/admin/posts')}">Write a new one instead</a>`}</div></form></section>`;

/** `/admin/settings`: the plugin's settings, its events, the connection test and the debug log. */
export function addSettings(app: Hono, kit: PageKit): void {
  const { plugin } = kit;
  app.get('/admin/settings', (context) =>
    onlyAdministrators(kit, context, () => showSettings(kit, context, plugin.settings.read(), [])),
  );
  const post = (path: string, work: (context: Context, form: SentForm) => Response | Promise<Response>) =>
    app.post(path, async (context) => {
      const form = await kit.form(context, 'settings');
      if (form instanceof Response) return form;
      return onlyAdministrators(kit, context, () => work(context, form));
    });
  post('/admin/settings', (context, form) => {
    const wanted = settingsIn(form, plugin.settings.read());
    const problems = plugin.settings.save(wanted);
    if (problems.length > 0) return showSettings(kit, context, wanted, problems);
    return kit.goBack(form, form.visit.at('/admin/settings'), { text: 'Saved.' });
  });
  post('/admin/settings/test', async (_, form) => {
    const [email, eventName] = [form.field('testEmail').trim(), form.field('testEvent').trim()];
    const back = (text: string, isBad: boolean) =>
      kit.goBack(form, form.visit.at('/admin/settings'), { text, isBad });
    if (email === '' || eventName === '')
      return back('The test needs an e-mail and the name of an event.', true);
    const { success, status, message } = await plugin.testConnection({ email, eventName });
    const said = success ? 'Connection test passed' : 'Connection test failed';
    return back(`${said}${status > 0 ? ` (HTTP ${status})` : ''}: ${message}`, !success);
  });
}

function showSettings(
  kit: PageKit,
  context: Context,
  settings: PluginSettings,
  problems: SettingsProblem[],
): Response {
  const visit = kit.visitOf(context);
  return kit.page(context, {
    status: problems.length > 0 ? 400 : 200,
    title: 'Rewards settings',
    section: '/admin/settings',
    main: html`<div class="stack"><div class="page-head"><h1>Rewards settings</h1>
<p class="lead">Which brand this site belongs to, which events it sends, and whether they arrive.</p></div>
${problems.length > 0 && html`<div class="notice bad" role="alert"><p>Nothing was saved.</p><ul>${problems.map(({ message, fix }) => html`<li>${message}. ${fix}</li>`)}</ul></div>`}
${settingsForm(visit, settings, problems)}
${testForm(visit, settings)}
${debugLog(kit, settings)}</div>`,
  });
}

function settingsForm(visit: Visit, settings: PluginSettings, problems: SettingsProblem[]): Html {
  const why = (name: string) => whyIn(problems, name);
  const { brandId, eventHandlerUrl, servicesUrl, domain, apiKey, debugLogging } = settings;
  return html`<form class="stack" method="post" action="${visit.at('/admin/settings')}">${guard(visit, 'settings')}
<section class="card fields" aria-labelledby="service"><h2 id="service">The service</h2>
${field({ name: 'brandId', label: 'Brand ID', value: brandId, maxLength: 100, why: why('brandId'), hint: 'As it stands in the brand’s dashboard: 0x and 40 digits.' })}
${field({ name: 'eventHandlerUrl', label: 'Event handler URL', type: 'url', value: eventHandlerUrl, maxLength: 500, why: why('eventHandlerUrl') })}
${field({ name: 'servicesUrl', label: 'Shared services URL', type: 'url', value: servicesUrl, maxLength: 500, why: why('servicesUrl') })}
${field({ name: 'domain', label: 'Domain', value: domain, maxLength: 253, why: why('domain'), hint: 'One of the brand’s domains, exactly. Empty: the host of this site.' })}
${field({ name: 'apiKey', label: 'API key', type: 'password', autocomplete: 'new-password', maxLength: 200, why: why('apiKey'), hint: apiKey === '' ? 'None is kept. Needed only where the brand lets nobody else write.' : 'One is kept; leave this empty to keep it. It never leaves the server.' })}
${apiKey !== '' && html`<label class="check"><input type="checkbox" name="forgetKey"> Forget the key</label>`}
<label class="check"><input type="checkbox" name="debugLogging"${debugLogging && html` checked`}> Write a debug log</label></section>
${eventsTable(settings)}
<button type="submit">Save settings</button></form>`;
}

/** One empty row more than there are events: an event is added there, and removed by emptying its name. */
function eventsTable({ events }: PluginSettings): Html {
  const rows: HookedEvent[] = [...events, { hook: 'share', eventName: '', enabled: false }];
  return html`<section class="card stack" aria-labelledby="events"><h2 id="events">Events</h2>
<p class="dim">What happens here, and the event that follows. An event is named exactly as in the brand’s dashboard, upper and lower case too. Empty a name to remove its row; the last row adds one. A hook of your own is fired by the host of this site, or by <code>rewards site fire</code>. What pages may send, any visitor can.</p>
<div class="scroll" tabindex="0" role="group" aria-label="Events"><table class="events-table"><thead><tr><th scope="col">When</th><th scope="col">Or a hook of your own</th><th scope="col">Event name</th><th scope="col">Send it</th><th scope="col">From pages</th></tr></thead>
<tbody>${rows.map(
    (
      { hook, eventName, enabled, fromPages = false },
      index,
    ) => html`<tr><td>${bareSelect({ name: `hook-${index}`, label: `When, row ${index + 1}`, value: isBuiltIn(hook) ? hook : 'share', options: hooks })}</td>
<td><input name="own-${index}" value="${isBuiltIn(hook) ? '' : hook}" maxlength="64" autocomplete="off" spellcheck="false" aria-label="Hook of your own, row ${index + 1}"></td>
<td><input name="event-${index}" value="${eventName}" maxlength="100" autocomplete="off" spellcheck="false" aria-label="Event name, row ${index + 1}"></td>
<td><input type="checkbox" name="enabled-${index}"${enabled && html` checked`} aria-label="Send it, row ${index + 1}"></td>
<td><input type="checkbox" name="pages-${index}"${fromPages && html` checked`} aria-label="From pages, row ${index + 1}"></td></tr>`,
  )}</tbody></table></div></section>`;
}

const testForm = (visit: Visit, { events }: PluginSettings): Html =>
  html`<section class="card stack" aria-labelledby="test"><h2 id="test">Connection test</h2>
<p class="dim">Sends a real event with the saved settings and says what came back, and what to do about it.</p>
<form class="fields" method="post" action="${visit.at('/admin/settings/test')}">${guard(visit, 'settings')}
${field({ name: 'testEmail', label: 'E-mail', type: 'email', value: visit.user?.email, required: true, maxLength: 254 })}
${field({ name: 'testEvent', label: 'Event name', value: events.find(({ enabled }) => enabled)?.eventName ?? '', required: true, maxLength: 100 })}
<button class="quiet" type="submit">Send a test event</button></form></section>`;

function debugLog({ plugin }: PageKit, { debugLogging }: PluginSettings): Html {
  const lines = plugin.debugLog();
  const text = debugLogging
    ? 'Nothing has been written yet. Send a test event, and it appears here.'
    : 'The debug log is off. Tick “Write a debug log” above to see what the plugin sends.';
  return html`<section class="card stack" aria-labelledby="log"><h2 id="log">Debug log</h2>
${
  lines.length === 0
    ? html`<p class="dim">${text}</p>`
    : html`<ol class="log" tabindex="0" aria-label="Debug log, newest first">${lines.map(({ atMs, text: line }) => html`<li>${minute(atMs)} ${line}</li>`)}</ol>`
}</section>`;
}

/** An empty key keeps the one that is there: the page does not show it. */
function settingsIn(form: SentForm, now: PluginSettings): PluginSettings {
  const { field } = form;
  const isTicked = (name: string) => field(name) !== '';
  const apiKey = isTicked('forgetKey') ? '' : field('apiKey').trim() || now.apiKey;
  return {
    brandId: field('brandId').trim(),
    eventHandlerUrl: field('eventHandlerUrl').trim(),
    servicesUrl: field('servicesUrl').trim(),
    domain: field('domain').trim(),
    apiKey,
    debugLogging: isTicked('debugLogging'),
    events: eventsIn(form),
  };
}

/** Rows without a name are left out. */
function eventsIn({ field, names }: SentForm): HookedEvent[] {
  const numbers = names
    .flatMap((name) => /^event-(\d{1,4})$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((one, other) => one - other);
  return numbers.flatMap((number) => {
    const eventName = field(`event-${number}`).trim();
    if (eventName === '') return [];
    const hook = field(`own-${number}`).trim() || field(`hook-${number}`);
    const fromPages = field(`pages-${number}`) !== '';
    return [{ hook, eventName, enabled: field(`enabled-${number}`) !== '', ...(fromPages && { fromPages }) }];
  });
}
