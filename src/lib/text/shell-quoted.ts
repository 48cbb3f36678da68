/** Texts as words of a shell. */

/** Always in quotes: what is in it means nothing to a POSIX shell. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** In quotes only where a shell would read it otherwise. */
export const shellWord = (text: string): string => (isPlain(text) ? text : shellQuoted(text));

/** Without quotes in every notation. */
export const isPlain = (text: string): boolean => /^[\w@%+=:,./-]+$/.test(text);

// Commands that people copy from a page and paste.

/**
 * Characters that a terminal acts on when they are pasted are written out, as bash and zsh read them; so is `{`, which begins a
 * place that a page fills, and `\`, after which fish does not end a text at its quote. Shells that do not know the notation see
 * one quoted text, or refuse the line: they run nothing that is in it.
 */
export function pastedWord(text: string): string {
  if (!ACTS.test(text)) return shellWord(text);
  const escaped = text.replaceAll(
    /[\u0000-\u001f\u007f{\\']/g,
    (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  return `$'${escaped}'`;
}

const ACTS = /[\u0000-\u001f\u007f{\\]/;

/** A command in which each inserted text is one word, whatever is in it. */
export const shellLine = (parts: TemplateStringsArray, ...texts: readonly (string | number | bigint)[]) =>
  String.raw({ raw: parts }, ...texts.map((text) => pastedWord(String(text))));

/** Options of a command, each after a blank; those without a value are left out. */
export const shellOptions = (of: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(of)
    .flatMap(([name, value]) => (value ? [` --${name} ${pastedWord(value)}`] : []))
    .join('');
