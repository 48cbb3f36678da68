/** A stretch of time that a query looks at, and how many rows it may find. */
export interface TimeRange {
  /** Not included. */
  afterMs: number;
  /** Included. */
  untilMs: number;
  limit: number;
}
