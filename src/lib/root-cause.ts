/** Finds the first cause of an error. */

/**
 * The message of the first of a chain of causes, on one line. Database errors repeat the statement and all its
 * values in the outer messages, which must not reach a log.
 */
export function rootMessage(error: unknown): string {
  let root = error;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  return (root instanceof Error ? root.message : String(root)).split('\n')[0] ?? '';
}
