/** Pieces of TypeScript that break over lines where they are too long for one. */

/** A text, pieces in a row, or a list between brackets. */
export type Source = string | readonly Source[] | Bracketed;

interface Bracketed {
  open: string;
  items: readonly Source[];
  close: string;
}

/** A statement by itself, or a block of them; an empty text is an empty line. */
export type Statement = Source | { head: string; body: readonly Statement[]; tail: string };

const WIDTH = 110;

export const bracketed = (open: string, items: readonly Source[], close: string): Source => ({
  open,
  items,
  close,
});

const isObject = (source: Source | undefined): source is Bracketed =>
  typeof source === 'object' && 'open' in source && source.items.length > 0;

const isList = (source: Source): source is readonly Source[] => Array.isArray(source);

function onOneLine(source: Source): string {
  if (typeof source === 'string') return source;
  if (isList(source)) return source.map(onOneLine).join('');
  const inside = source.items.map(onOneLine).join(', ');
  const space = source.open.endsWith('{') && inside !== '' ? ' ' : '';
  return `${source.open}${space}${inside}${space}${source.close}`;
}

function printed(source: Source, indent: number): string {
  const flat = onOneLine(source);
  if (typeof source === 'string' || indent + flat.length < WIDTH) return flat;
  if (isList(source)) return source.map((part) => broken(part, indent)).join('');
  return broken(source, indent);
}

/** Of a row too long for a line every list breaks. */
function broken(source: Source, indent: number): string {
  if (typeof source === 'string') return source;
  if (isList(source)) return source.map((part) => broken(part, indent)).join('');
  if (source.items.length === 0) return onOneLine(source);
  const last = source.items.at(-1);
  const before = [source.open, ...source.items.slice(0, -1).map((item) => `${onOneLine(item)}, `)].join('');
  // The object that a call ends with opens on the line of the call.
  if (source.open.endsWith('(') && isObject(last) && indent + before.length < WIDTH - 1)
    return `${before}${broken(last, indent)}${source.close}`;
  const inner = ' '.repeat(indent + 2);
  const items = source.items.map((item) => `${inner}${printed(item, indent + 2)},\n`);
  return `${source.open}\n${items.join('')}${' '.repeat(indent)}${source.close}`;
}

/** Statements as lines. */
export function linesOf(statements: readonly Statement[], indent = 0): string[] {
  const margin = ' '.repeat(indent);
  return statements.flatMap((statement) => {
    if (statement === '') return [''];
    if (typeof statement === 'string' || isSource(statement))
      return [`${margin}${printed(statement, indent)}`];
    const { head, body, tail } = statement;
    return [`${margin}${head}`, ...linesOf(body, indent + 2), `${margin}${tail}`];
  });
}

const isSource = (statement: Statement): statement is Source =>
  typeof statement === 'string' || Array.isArray(statement) || 'open' in statement;

/** A text in single quotes, or in double ones where it has single ones itself. */
export function quoted(text: string): string {
  const json = JSON.stringify(text);
  if (text.includes("'") && !text.includes('"')) return json;
  return `'${escaped(text).replaceAll("'", "\\'")}'`;
}

/** As it stands between quotes that are not double. */
const escaped = (text: string) => JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');

/** As it stands between the expressions of a template text. */
export const inTemplate = (text: string) => escaped(text).replace(/`|\$\{/g, (one) => `\\${one}`);

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
export const isIdentifier = (name: string) => IDENTIFIER.test(name);

/** `.body`, `[0]` or `['set-cookie']`. */
export const accessed = (path: readonly string[]) =>
  path
    .map((key) => (isIdentifier(key) ? `.${key}` : /^\d+$/.test(key) ? `[${key}]` : `[${quoted(key)}]`))
    .join('');

/** A JSON value; `textSource` writes its texts. */
export function valueSource(value: unknown, textSource: (text: string) => Source = quoted): Source {
  if (typeof value === 'string') return textSource(value);
  if (Array.isArray(value))
    return bracketed(
      '[',
      value.map((one) => valueSource(one, textSource)),
      ']',
    );
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined';
  const fields = Object.entries(value).map(([key, one]): Source => {
    const name = key === '__proto__' ? `['__proto__']` : isPlainKey(key) ? key : quoted(key);
    return [`${name}: `, valueSource(one, textSource)];
  });
  return bracketed('{', fields, '}');
}

const isPlainKey = (key: string) => isIdentifier(key) || /^(?:0|[1-9]\d{0,14})$/.test(key);
