/** Which e-mail addresses a payment processor sends receipts to: fewer than there are. */

/** Letters, digits and the marks of RFC 5322 in the local part; labels of DNS, at least two, behind the @. */
const PLAIN =
  /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** RFC 5321's limit, which processors hold. */
const LOCAL_MAX = 64;

/**
 * Whether the processor takes an address, in the form of `emailKey`. It refuses quoted local parts, letters outside ASCII
 * in front of the @, and domains of one label, and makes no session then.
 */
export const isBuyerEmail = (email: string): boolean => PLAIN.test(email) && email.indexOf('@') <= LOCAL_MAX;
