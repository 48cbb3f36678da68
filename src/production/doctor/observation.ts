/** The result of one check of a machine; a problem when it has a `fix`. */
export interface Observation {
  check: string;
  /** The result as a sentence without a full stop. */
  message: string;
  /** What to do; present only for a problem. */
  fix?: string;
}
