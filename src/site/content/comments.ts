/** What users write below posts. */
import type { SiteUser } from '../accounts/users.ts';
import type { ContentDeps, Written } from './content-deps.ts';
import { contentLimits } from './content-limits.ts';

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
