/** The only reader of the process's environment. */

/** Variables by name; one that is set to nothing counts as not set. */
export type Environment = Readonly<Record<string, string>>;

/** A copy of the environment as it is now. */
export function readEnvironment(): Environment {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => Boolean(entry[1])),
  );
}
