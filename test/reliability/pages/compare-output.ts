/** What a page shows of an answer, held against the answer: words as they stand, numbers and ids as such. */

/** The lines of `shown` that the output has not, in this order; empty when it has all. */
export function missingLines(shown: string, output: string): string[] {
  const lines = output.split('\n');
  let from = 0;
  return shown.split('\n').filter((line) => {
    if (line.trim() === '' || line.trim() === '…') return false;
    const pattern = patternOf(line);
    const at = lines.findIndex((one, place) => place >= from && pattern.test(one));
    if (at < 0) return true;
    from = at + 1;
    return false;
  });
}

/** Digits, hashes and instants change from run to run; `…` stands for anything. */
function patternOf(line: string): RegExp {
  const parts = line
    .trim()
    .split(/(\s+|…)/)
    .map((part) => {
      if (part === '…') return '.*';
      if (/^\s+$/.test(part)) return '\\s+';
      return part
        .split(/((?:0x)?[0-9a-f]*\d[\w.:+-]*)/i)
        .map((piece, place) =>
          place % 2 === 1 ? '[\\w.:+-]+' : piece.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'),
        )
        .join('');
    });
  return new RegExp(parts.join(''));
}

/** An entry of a list may stand anywhere in the answer's. */
function missingEntry(shown: unknown, answer: readonly unknown[], path: string): string[] {
  const missing = answer.map((one) => missingFields(shown, one, path));
  return missing.sort((a, b) => a.length - b.length)[0] ?? [path];
}

/** Where an answer lacks what a page shows, as paths: fields, their types, and texts without digits. */
export function missingFields(shown: unknown, answer: unknown, path = '$'): string[] {
  if (Array.isArray(shown))
    return Array.isArray(answer)
      ? shown.flatMap((one, place) => missingEntry(one, answer, `${path}[${place}]`))
      : [path];
  if (typeof shown === 'object' && shown !== null) {
    if (typeof answer !== 'object' || answer === null) return [path];
    return Object.entries(shown).flatMap(([name, value]) =>
      name === '…' ? [] : missingFields(value, (answer as Record<string, unknown>)[name], `${path}.${name}`),
    );
  }
  if (typeof shown === 'string' && typeof answer === 'string')
    return missingLines(shown, answer).length === 0 ? [] : [`${path}: ${answer}`];
  if (typeof shown !== typeof answer) return [path];
  return typeof shown === 'boolean' && shown !== answer ? [`${path}: ${answer}`] : [];
}
