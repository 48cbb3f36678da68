/** Finds the first cause of an error. */

/** The first of a chain of causes. */
function rootOf(error: unknown): unknown {
  let root = error;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  return root;
}

/**
 * The message of the first of a chain of causes, on one line. Database errors repeat the statement and all its
 * values in the outer messages, which must not reach a log.
 */
export function rootMessage(error: unknown): string {
  const root = rootOf(error);
  return (root instanceof Error ? root.message : String(root)).split('\n')[0] ?? '';
}

/** Codes of the operating system and of fetch, whose messages name addresses. */
const SYSTEM_CODE = /^(?:E[A-Z]+(?:_[A-Z]+)*|UND_ERR_[A-Z_]+)$/;

/** The first cause for a log: its code, and its message where that names no address: `57P03: the database system is starting up`. */
export function causeOf(error: unknown): string {
  const root = rootOf(error);
  const code = root instanceof Error && 'code' in root && typeof root.code === 'string' ? root.code : '';
  if (SYSTEM_CODE.test(code)) return code;
  return code ? `${code}: ${rootMessage(root)}` : rootMessage(root);
}
