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
