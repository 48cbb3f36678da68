/** The site's hooks: what can happen on a site that an event may follow. Contract: Events. */

export const hooks = {
  comment_posted: 'A comment was posted',
  user_registered: 'A user registered',
  page_load: 'A logged-in user opened a page (a daily visit: at most one event in 24 hours)',
  login: 'A user logged in',
  post_published: 'A post was published for the first time',
  order_completed: 'An order was paid and completed',
  share: 'The share button was used, or a page called the AJAX action',
} as const;

export type Hook = keyof typeof hooks;
