/** What the operator's pages never show of what the ledger holds: mailboxes, and the codes of redemptions. */

/** Names of mailboxes; what stands behind the @ says whose users they are. */
const MAILBOX = /[^\s"'<>@:,()]+@(?=[\w-])/g;

/** The field of a redemption's webhook, however often the text that it stands in was quoted. */
const CODE = /(redemptionCode\\*"\s*:\s*\\*")([^"\\]+)/g;

/** Who has the code has the perk: it is covered in its webhook, and where a receiver repeats it in the same text. */
function withoutCodes(text: string): string {
  const codes = new Set(Array.from(text.matchAll(CODE), ([, , code = '']) => code));
  let covered = text;
  for (const code of codes) covered = covered.replaceAll(code, '•••');
  return covered;
}

/** A text of the ledger as the operator's pages may show it. */
export const covered = (text: string): string => withoutCodes(text).replaceAll(MAILBOX, '•••@');
