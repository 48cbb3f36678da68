/** Posts, which an administrator drafts and publishes, and what users write below them. A post is announced to the plugin once in its life. */
import type { SiteUser } from '../accounts/users.ts';
import { contentLimits } from '../config.ts';
import type { ContentDeps, ContentProblem, Written } from './content-deps.ts';

export interface Post {
  id: number;
  slug: string;
  title: string;
  /** Plain text: paragraphs, `## headings`, `- lists`, `> quotes`, and shortcodes. */
  body: string;
  /** Null: the site itself. */
  author: string | null;
  /** Null: a draft, which only administrators see. */
  publishedAtMs: number | null;
}

interface PostWish {
  title: string;
  body: string;
}

const COLUMNS = `posts.id, posts.slug, posts.title, posts.body, users.display_name as author,
  posts.published_at as publishedAtMs`;
const FROM = 'from posts left join users on users.id = posts.author_id';

export type Posts = ReturnType<typeof createPosts>;

export function createPosts({ store, now, fire }: ContentDeps) {
  const published = store.prepare<[number], Post>(
    `select ${COLUMNS} ${FROM} where published_at is not null order by published_at desc, posts.id desc limit ?`,
  );
  const all = store.prepare<[], Post>(`select ${COLUMNS} ${FROM} order by posts.id desc`);
  const bySlug = store.prepare<[string], Post>(`select ${COLUMNS} ${FROM} where posts.slug = ?`);
  const byId = store.prepare<[number], Post>(`select ${COLUMNS} ${FROM} where posts.id = ?`);
  const insert = store.prepare(
    'insert into posts (slug, title, body, author_id, created_at) values (?, ?, ?, ?, ?)',
  );
  const update = store.prepare('update posts set title = ?, body = ? where id = ?');
  const publish = store.prepare('update posts set published_at = ? where id = ? and published_at is null');
  const withdraw = store.prepare('update posts set published_at = null where id = ?');
  const announce = store.prepare('update posts set announced_at = ? where id = ? and announced_at is null');
  const authorEmail = store.prepare<[number], { email: string }>(
    'select users.email from posts join users on users.id = posts.author_id where posts.id = ?',
  );

  return {
    /** Newest first. */
    published: () => published.all(contentLimits.frontPagePosts),
    /** Drafts as well, newest first. */
    all: () => all.all(),
    bySlug: (slug: string) => bySlug.get(slug),
    byId: (id: number) => byId.get(id),
    /** A new draft; its address is made of the title, once. */
    add(author: Pick<SiteUser, 'id'> | null, wish: PostWish): Written<Post> {
      const problems = problemsOf(wish);
      if (problems.length > 0) return { ok: false, problems };
      const slug = freeSlug(wish.title, (wanted) => bySlug.get(wanted) !== undefined);
      const { lastInsertRowid } = insert.run(slug, wish.title.trim(), wish.body, author?.id ?? null, now());
      return { ok: true, value: byId.get(Number(lastInsertRowid)) as Post };
    },
    /** Changes title and text; the address stays. Undefined: no such post. */
    edit(id: number, wish: PostWish): Written<Post> | undefined {
      if (!byId.get(id)) return undefined;
      const problems = problemsOf(wish);
      if (problems.length > 0) return { ok: false, problems };
      update.run(wish.title.trim(), wish.body, id);
      return { ok: true, value: byId.get(id) as Post };
    },
    /** Fires `post_published` for the author at the first time, never at a later one. */
    publish(id: number): Post | undefined {
      const isPublishedNow = publish.run(now(), id).changes === 1;
      const post = byId.get(id);
      if (isPublishedNow && post && announce.run(now(), id).changes === 1) {
        const email = authorEmail.get(id)?.email;
        if (email) fire('post_published', { email, metadata: { post_id: post.id, post_title: post.title } });
      }
      return post;
    },
    /** Makes it a draft again. */
    withdraw(id: number): Post | undefined {
      withdraw.run(id);
      return byId.get(id);
    },
  };
}

function problemsOf({ title, body }: PostWish): ContentProblem[] {
  const { titleLength, postLength } = contentLimits;
  const problems: ContentProblem[] = [];
  if (title.trim() === '')
    problems.push({ field: 'title', message: 'The post has no title', fix: 'Give it one.' });
  if (title.trim().length > titleLength)
    problems.push({
      field: 'title',
      message: `The title has ${title.trim().length} characters`,
      fix: `Use at most ${titleLength}.`,
    });
  if (body.trim() === '')
    problems.push({ field: 'body', message: 'The post has no text', fix: 'Write something.' });
  if (body.length > postLength)
    problems.push({
      field: 'body',
      message: `The text has ${body.length} characters`,
      fix: `Use at most ${postLength}.`,
    });
  return problems;
}

/** `a-new-mug`, or `a-new-mug-2` where that one is taken. */
function freeSlug(title: string, isTaken: (slug: string) => boolean): string {
  const plain = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  const base = plain === '' ? 'post' : plain;
  let slug = base;
  for (let number = 2; isTaken(slug); number += 1) slug = `${base}-${number}`;
  return slug;
}

export interface Comment {
  id: number;
  /** Null: the site itself. */
  author: string | null;
  /** Plain text; never expanded, never HTML. */
  body: string;
  atMs: number;
}

const HOUR_MS = 3_600_000;

export type Comments = ReturnType<typeof createComments>;

/** What users write below posts. */
export function createComments({ store, now, fire }: ContentDeps) {
  const ofPost = store.prepare<[number, number], Comment>(
    `select * from (
       select comments.id, users.display_name as author, comments.body, comments.created_at as atMs
       from comments left join users on users.id = comments.author_id
       where post_id = ? order by comments.id desc limit ?
     ) order by id`,
  );
  const insert = store.prepare(
    'insert into comments (post_id, author_id, body, created_at) values (?, ?, ?, ?)',
  );
  const recent = store.prepare<[number, number], { count: number }>(
    'select count(*) as count from comments where author_id = ? and created_at > ?',
  );

  return {
    /** Oldest first. */
    ofPost: (postId: number) => ofPost.all(postId, contentLimits.commentsShown),
    /** Fires `comment_posted` for the user who wrote it. */
    add(post: { id: number; title: string }, author: SiteUser, text: string): Written<number> {
      const body = text.trim();
      const problem = problemOf(body, recent.get(author.id, now() - HOUR_MS)?.count ?? 0);
      if (problem) return { ok: false, problems: [{ field: 'body', ...problem }] };
      const id = Number(insert.run(post.id, author.id, body, now()).lastInsertRowid);
      fire('comment_posted', { email: author.email, metadata: { comment_id: id, post_id: post.id } });
      return { ok: true, value: id };
    },
  };
}

function problemOf(body: string, recent: number): { message: string; fix: string } | undefined {
  const { commentLength, commentsPerHour } = contentLimits;
  if (body === '') return { message: 'The comment is empty', fix: 'Write something and send it again.' };
  if (body.length > commentLength)
    return { message: `The comment has ${body.length} characters`, fix: `Use at most ${commentLength}.` };
  if (recent >= commentsPerHour)
    return {
      message: `You wrote ${recent} comments in the last hour`,
      fix: 'Wait a while, then send it again.',
    };
  return undefined;
}
