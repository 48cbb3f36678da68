/** Texts of strangers as they can be shown: what is invisible or reorders what follows is written out. */

/** C0, DEL and C1 controls but for line ends and tabs, marks of direction, invisible characters, halves of characters. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Surrogate}/gu;

const written = (sign: string) =>
  `‹U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}›`;

/** `a‹U+202E›b`: a direction override, an escape sequence or a zero-width character is seen, and does nothing. */
export const visibleText = (text: string): string => text.replace(HIDDEN, written);

/** The same within one line: ends of lines and tabs are written out too. */
export const visibleLine = (text: string): string => visibleText(text).replaceAll(/[\t\n]/g, written);
