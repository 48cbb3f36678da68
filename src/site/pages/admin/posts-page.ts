/** `/admin/posts`: writes, changes, publishes and withdraws posts. */
import type { Context, Hono } from 'hono';
import type { ContentProblem } from '../../content/content-deps.ts';
import { contentLimits } from '../../content/content-limits.ts';
import type { Post } from '../../content/posts.ts';
import { area, field, guard, whyIn } from '../fields.ts';
import { day } from '../format.ts';
import { type Html, html } from '../html.ts';
import type { PageKit, SentForm } from '../page-kit.ts';
import type { Visit } from '../visit.ts';
import { onlyAdministrators } from './only-administrators.ts';

interface Draft {
  id?: number | undefined;
  title: string;
  body: string;
}

export function addAdminPosts(app: Hono, kit: PageKit): void {
  const { posts } = kit.content;
  app.get('/admin/posts', (context) =>
    onlyAdministrators(kit, context, () => {
      const edited = posts.byId(Number(context.req.query('edit')) || 0);
      return show(kit, context, edited ?? { title: '', body: '' }, []);
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
    if (!written.ok) return show(kit, context, { ...wish, id }, written.problems);
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

function show(kit: PageKit, context: Context, draft: Draft, problems: ContentProblem[]): Response {
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
