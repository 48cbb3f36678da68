/** Finds the user of an event: the e-mail from the most reliable source that has one. */
import type { Store } from './store.ts';

/** The contract's limit for an e-mail. */
const EMAIL_MAX = 254;
const REMEMBERED = 'email';

/** The text as an e-mail; undefined for anything else, such as a template that was never filled in. */
export function emailOf(text: unknown): string | undefined {
  const email = typeof text === 'string' ? text.trim() : '';
  return email.length <= EMAIL_MAX && /^[^\s@{}<>]+@[^\s@{}<>]+$/.test(email) ? email : undefined;
}

/** `given` is the tag's; `store` remembers e-mails for later pages, where the tag allows it. */
export function createEmails(store: Store | undefined, given: string | null | undefined) {
  const fromTag = emailOf(given);
  let identified: string | undefined;
  let remembered = emailOf(store?.read(REMEMBERED));
  const remember = (email: string | undefined) => {
    if (email !== remembered) store?.write(REMEMBERED, email);
    remembered = email;
  };
  return {
    /** Sets the user from now on; any value but an e-mail forgets the user. */
    identify(email: unknown): string | undefined {
      identified = emailOf(email);
      remember(identified);
      return identified;
    },
    /** Picks in this order: the call's e-mail, the identified one, the tag's, the form's, the remembered one. */
    pick(from: { call?: unknown; form?: string | undefined } = {}): string | undefined {
      const email = emailOf(from.call) ?? identified ?? fromTag ?? from.form;
      if (email !== undefined) remember(email);
      return email ?? remembered;
    },
  };
}
