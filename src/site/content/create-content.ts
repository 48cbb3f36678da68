/** Everything that the site shows and sells, and what a demo site has when it is opened for the first time. */
import type { ContentDeps } from './content-deps.ts';
import { type Comments, createComments, createPosts, type Posts } from './posts.ts';
import { createShop, type Shop } from './shop.ts';

const DAY_MS = 86_400_000;
const SEEDED = 'content.seeded';

/** Once in the life of a store: what an administrator changes afterwards stays. Nothing of it is an event. */
function seedDemoContent({ store, now }: Pick<ContentDeps, 'store' | 'now'>): void {
  const claim = store.prepare(
    'insert into settings (name, value) values (?, ?) on conflict (name) do nothing',
  );
  const insertPost = store.prepare(
    `insert into posts (slug, title, body, author_id, published_at, announced_at, created_at)
     values (?, ?, ?, null, ?, ?, ?)`,
  );
  const insertProduct = store.prepare(
    'insert into products (slug, name, description, price_cents) values (?, ?, ?, ?)',
  );
  const insertComment = store.prepare(
    'insert into comments (post_id, author_id, body, created_at) values (?, null, ?, ?)',
  );
  const seed = store.transaction(() => {
    if (claim.run(SEEDED, String(now())).changes === 0) return;
    posts.forEach(({ slug, title, body, daysAgo, comment }) => {
      const at = now() - daysAgo * DAY_MS;
      const id = insertPost.run(slug, title, body.trim(), at, at, at).lastInsertRowid;
      if (comment) insertComment.run(id, comment, at + DAY_MS / 2);
    });
    for (const { slug, name, description, priceCents } of products)
      insertProduct.run(slug, name, description, priceCents);
  });
  seed();
}

const products = [
  {
    slug: 'field-notebook',
    name: 'Field notebook',
    description: 'Ninety-six pages that lie flat, sewn rather than glued. Fits a coat pocket.',
    priceCents: 1_400,
  },
  {
    slug: 'enamel-mug',
    name: 'Enamel mug',
    description: 'Holds a third of a litre, survives a campfire and a dishwasher. Chips tell its story.',
    priceCents: 1_800,
  },
  {
    slug: 'canvas-rucksack',
    name: 'Canvas rucksack',
    description: 'Waxed cotton, two straps, one big pocket. We repair it for as long as you carry it.',
    priceCents: 9_500,
  },
];

/** Oldest first. */
const posts: { slug: string; title: string; body: string; daysAgo: number; comment?: string }[] = [
  {
    slug: 'why-we-repair-what-we-sell',
    title: 'Why we repair what we sell',
    daysAgo: 24,
    body: `
A rucksack came back to us last month with eleven years of weather on it. One strap had gone at the seam, and its owner
wanted to know what a new bag would cost. We asked her to leave it with us over lunch instead.

The seam took Ines twenty minutes. The thread is waxed linen, the same as in the first one we made, and it will outlast
the canvas around it.

## What a repair costs us

About nine dollars, if we count the tea. A new bag would have earned us sixty. It still is the better business: of the
people whose bag we repaired, two in three came back within the year for something else, and brought somebody along.

> A thing that can be mended is worth choosing well.

So bring it in. Straps, seams and buckles are free, for as long as you carry the bag and we keep the shop.
`,
  },
  {
    slug: 'a-mug-for-the-windowsill',
    title: 'A mug for the windowsill',
    daysAgo: 9,
    body: `
Our enamel mugs are dipped twice and fired at eight hundred degrees, in a kiln that is older than anyone who works
here. Every batch turns out a little different. This one has a rim the colour of wet slate.

## How to keep it

- Let it warm up with the coffee: enamel likes slow changes.
- Scrub it with salt when it stains, never with steel wool.
- A chip is where the story begins. Rub in a drop of oil, so that it does not rust.

Members can have one for their points instead of money. It is among the physical perks:

[rewards_perks category=physical]
`,
  },
  {
    slug: 'points-for-showing-up',
    title: 'Points for showing up',
    daysAgo: 2,
    comment:
      'Welcome! If anything about the points is unclear, ask us here. A comment earns you some as well, so it is never a wasted question.',
    body: `
From today the shop remembers its regulars. Drop by, write under a post, recommend us to a friend or buy a notebook:
each of these earns you points, called RWT, and points turn into things. There is no card to carry. Your e-mail is all
we need.

## Every day counts a little more

Check in once a day. From the third day in a row your points are multiplied, and after a week there is a bonus of a
hundred.

[rewards_streak]

## The regulars of this week

Friendly competition never hurt anybody. This is who has earned most since Monday:

[rewards_leaderboard metric=rwt_earned period=week limit=5]
`,
  },
];

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
