/** What an error began with. */

/**
 * The message of the first of a chain of causes, on one line. Errors of a database repeat the statement and all its
 * values in the messages around it, which belong in no log.
 */
export function rootMessage(error: unknown): string {
  let root = error;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  return (root instanceof Error ? root.message : String(root)).split('\n')[0] ?? '';
}
