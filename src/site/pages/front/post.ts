/** `/posts/:slug`: a post with its shortcodes, the share button, and comments. */
import type { Context, Hono } from 'hono';
import type { Comment } from '../../content/comments.ts';
import { contentLimits } from '../../content/content-limits.ts';
import type { Post } from '../../content/posts.ts';
import { area, guard } from '../fields.ts';
import { day, plural } from '../format.ts';
import { type Html, html } from '../html.ts';
import type { PageKit } from '../page-kit.ts';
import { proseHtml } from '../prose.ts';
import { shareButton } from '../share-button.ts';
import { expandShortcodes } from '../shortcodes/expand-shortcodes.ts';
import type { Visit } from '../visit.ts';

export function addPost(app: Hono, kit: PageKit): void {
  /** Drafts are for administrators. */
  const find = (visit: Visit, slug: string): Post | undefined => {
    const post = kit.content.posts.bySlug(slug);
    return post && (post.publishedAtMs !== null || visit.isAdministrator) ? post : undefined;
  };
  app.get('/posts/:slug', (context) => {
    const post = find(kit.visitOf(context), context.req.param('slug'));
    return post ? showPost(kit, context, post) : kit.notFound(context);
  });
  app.post('/posts/:slug/comments', async (context) => {
    const form = await kit.form(context);
    if (form instanceof Response) return form;
    const { visit, field } = form;
    const post = find(visit, context.req.param('slug'));
    if (!post) return kit.notFound(context);
    const path = visit.at(`/posts/${post.slug}`);
    if (!visit.user) return kit.goBack(form, `${visit.at('/login')}?next=/posts/${post.slug}`);
    const written = kit.content.comments.add(post, visit.user, field('body'));
    if (written.ok)
      return kit.goBack(form, `${path}#comment-${written.value}`, { text: 'Thank you for your comment.' });
    const [problem] = written.problems;
    return kit.goBack(form, `${path}#write`, { text: `${problem?.message}. ${problem?.fix}`, isBad: true });
  });
}

async function showPost(kit: PageKit, context: Context, post: Post): Promise<Response> {
  const visit = kit.visitOf(context);
  const body = await expandShortcodes(kit.plugin, visit, proseHtml(post.body));
  const comments = kit.content.comments.ofPost(post.id);
  return kit.page(context, {
    title: post.title,
    section: '/',
    main: html`<article class="article"><header class="page-head"><h1>${post.title}</h1>
<p class="meta">${post.publishedAtMs === null ? html`<strong>Draft</strong>` : day(post.publishedAtMs)} · ${post.author ?? kit.config.name}</p></header>
<div class="prose">${body}</div>
${post.publishedAtMs !== null && html`<div class="share-row">${shareButton(visit, `/posts/${post.slug}`)}</div>`}</article>
<section class="article stack" aria-labelledby="comments"><h2 id="comments">${comments.length === 0 ? 'Comments' : plural(comments.length, 'comment')}</h2>
${commentList(comments, kit.config.name)}
${post.publishedAtMs !== null && commentForm(visit, post)}</section>`,
  });
}

const commentList = (comments: Comment[], siteName: string): Html =>
  comments.length === 0
    ? html`<p class="dim">Nobody has written yet. Be the first.</p>`
    : html`<ul class="comments">${comments.map(
        ({ id, author, body, atMs }) =>
          html`<li id="comment-${id}"><p class="meta"><strong>${author ?? siteName}</strong> · ${day(atMs)}</p><p>${body}</p></li>`,
      )}</ul>`;

const commentForm = (visit: Visit, post: Post): Html =>
  visit.user
    ? html`<form id="write" class="fields" method="post" action="${visit.at(`/posts/${post.slug}/comments`)}">${guard(visit)}
${area({ name: 'body', label: 'Your comment', value: '', maxLength: contentLimits.commentLength, hint: 'Comments earn points.' })}
<button type="submit">Post comment</button></form>`
    : html`<p><a href="${visit.comingBack('/login')}">Log in</a> to write a comment. Comments earn points.</p>`;
