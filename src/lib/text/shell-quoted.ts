/** Texts as words of a POSIX shell. */

/** Always in quotes: what is in it means nothing to the shell. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
