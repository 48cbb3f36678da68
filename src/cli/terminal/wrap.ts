/** Breaks lines between words, where a terminal would break them within one. */

/** Colours take no room. */
const COLOUR = /\u001b\[[0-9;]*m/g;
/** Characters on the screen. */
export const widthOf = (text: string) => text.replace(COLOUR, '').length;

/** Each line of `text` within `columns`; what goes on is indented by `indent`. A longer word keeps a line of its own. */
export function wrapWords(text: string, columns: number, indent = 0): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, columns, indent))
    .join('\n');
}

function wrapLine(line: string, columns: number, indent: number): string {
  if (widthOf(line) <= columns) return line;
  const lines: string[] = [];
  let current = '';
  // The blanks before a word belong to it, so that columns stay apart where the line is not broken.
  for (const word of line.match(/ *[^ ]+/g) ?? []) {
    const isFirst = current.trim() === '';
    if (isFirst || widthOf(current) + widthOf(word) <= columns) current += word;
    else {
      lines.push(current);
      current = ' '.repeat(indent) + word.trimStart();
    }
  }
  return [...lines, current].join('\n');
}
