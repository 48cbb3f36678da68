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

/** What a host of the site, or its administrator, calls a hook of their own. */
const OWN_HOOK = /^[a-z][a-z0-9_]{0,63}$/;
export const OWN_HOOK_MUST_BE =
  'must be 1 to 64 small letters, digits and underscores, and begin with a letter, such as booking_completed';

export const isBuiltIn = (name: string): name is Hook => Object.hasOwn(hooks, name);
/** Whether events may follow a hook of this name: one of the site's, or one that others fire. */
export const isHookName = (name: string): boolean => isBuiltIn(name) || OWN_HOOK.test(name);
