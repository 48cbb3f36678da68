/** What is taken where a pattern is too long to be read: told once in the reference, under the pattern's title. */

export const EMAIL_TITLE = 'e-mail address';

/** By the title that a schema has beside its pattern. */
export const takenForms: Record<string, string> = {
  [EMAIL_TITLE]:
    'One plain mailbox of RFC 5322, without a name in front of it: letters, digits and signs with single dots between them, or a quoted text such as `"ann smith"`, then `@` and the name of a host; at most 254 characters. Letters outside ASCII are taken on both sides. Blanks around it are dropped, and case does not count: `Ann@Example.com` and `ann@example.com` are one user. Escapes in quotes and addresses of the form `ann@[192.0.2.1]` are refused.',
};
