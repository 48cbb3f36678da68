/** Everything that the site shows and sells. */
import { type Comments, createComments } from './comments.ts';
import type { ContentDeps } from './content-deps.ts';
import { seedDemoContent } from './demo-content.ts';
import { createPosts, type Posts } from './posts.ts';
import { createShop, type Shop } from './shop.ts';

export interface Content {
  posts: Posts;
  comments: Comments;
  shop: Shop;
}

/** `isDemo`: a store that is opened for the first time gets posts, products and a comment. */
export function createContent(deps: ContentDeps, { isDemo }: { isDemo: boolean }): Content {
  if (isDemo) seedDemoContent(deps);
  return { posts: createPosts(deps), comments: createComments(deps), shop: createShop(deps) };
}
