/** Every limit of the site, with its reason. */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const siteSettings = {
  /** Contract: the plugin's own call timeout. */
  callTimeoutMs: 15_000,
  /** Contract: a daily visit is sent at most once in this time; a call that failed does not count. */
  dailyVisitMs: DAY_MS,
  /** As long as the service gives the same answer to the same idempotency key. */
  redemptionKeyMs: DAY_MS,
  /** As long as people expect to stay logged in. */
  sessionMs: 14 * DAY_MS,
  /** A nonce is good for one to two of these: a page left open over lunch still works, one from yesterday does not. */
  nonceTickMs: 12 * HOUR_MS,
  /** Bodies of forms and calls; a comment or a post fits. */
  bodyLimitBytes: 64 * 1024,
  /** Failed logins of one account or one address before each next try has to wait. */
  loginFailuresFree: 5,
  /** The first wait, doubled with each failure up to the longest. */
  loginWaitMs: 1_000,
  loginWaitMaxMs: 15 * MINUTE_MS,
  /** A failed login counts for this long. */
  loginFailuresKeptMs: DAY_MS,
  /** New accounts of one address in an hour: a household or a class room; each can bring its e-mail a reward. */
  registrationsPerHour: 20,
  /** Requests of one address that go on to the service, in a minute: the service counts all of them as the site's. */
  addressCallsPerMinute: 300,
  /** Lines that the debug log keeps; older ones go. */
  debugLinesMax: 500,
} as const;

/** How long texts may be: each fits into `bodyLimitBytes` of a form, with room for its other fields. */
export const contentLimits = {
  /** Fits on two lines of a phone. */
  titleLength: 120,
  /** Some eight pages of a book. */
  postLength: 20_000,
  /** A page of a book. */
  commentLength: 2_000,
  /** More than this is not a shop's order but a wholesaler's. */
  orderQuantity: 20,
  /** Comments of one user in an hour: more than anybody writes by hand about a shop's posts. */
  commentsPerHour: 30,
  /** Orders of one user in an hour. */
  ordersPerHour: 30,
  /** Posts that the front page shows. */
  frontPagePosts: 20,
  /** Comments that a post shows: the newest. */
  commentsShown: 200,
} as const;
