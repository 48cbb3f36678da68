/** `/admin/settings`: the plugin's settings, its events, the connection test and the debug log. */
import type { Context, Hono } from 'hono';
import { hooks, isBuiltIn } from '../../plugin/hooks.ts';
import type { HookedEvent, PluginSettings, SettingsProblem } from '../../plugin/settings.ts';
import { bareSelect, field, guard, whyIn } from '../fields.ts';
import { minute } from '../format.ts';
import { type Html, html } from '../html.ts';
import type { PageKit, SentForm } from '../page-kit.ts';
import type { Visit } from '../visit.ts';
import { onlyAdministrators } from './only-administrators.ts';
import { settingsIn } from './settings-form.ts';

export function addSettings(app: Hono, kit: PageKit): void {
  const { plugin } = kit;
  app.get('/admin/settings', (context) =>
    onlyAdministrators(kit, context, () => show(kit, context, plugin.settings.read(), [])),
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
    if (problems.length > 0) return show(kit, context, wanted, problems);
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

function show(
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
