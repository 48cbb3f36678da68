/** Finds the place at which a text stops being JSON, for people who have to mend it. */

export interface JsonMistake {
  /** Both from 1. */
  line: number;
  column: number;
  expected: string;
  /** What stands there; undefined: the text ends. */
  came: string | undefined;
}

const BLANK = /[ \t\n\r]*/y;
const TEXT = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SIMPLE = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;
/** What is shown of a wrong word. */
const WORD = /"[^"\n]{0,20}"?|[\w.+-]{1,20}|./uy;

type Wanted = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'more' | 'end';

const EXPECTED: Record<Wanted, string> = {
  value: 'a value',
  'first value': 'a value or ]',
  name: 'a name in double quotes',
  'first name': 'a name in double quotes or }',
  colon: ':',
  more: ', or the closing bracket',
  end: 'nothing more',
};

/** Undefined for a text that is JSON. */
export function jsonMistake(text: string): JsonMistake | undefined {
  const open: ('{' | '[')[] = [];
  let at = 0;
  let wanted: Wanted = 'value';
  const match = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0] ?? '';
  };
  /** Whether it stands here; then it is passed. */
  const take = (pattern: RegExp): boolean => {
    const { length } = match(pattern);
    at += length;
    return length > 0;
  };
  const takeSign = (sign: string): boolean => {
    if (text[at] !== sign) return false;
    at++;
    return true;
  };
  const after = (): Wanted => (open.length > 0 ? 'more' : 'end');
  const close = (): Wanted => {
    open.pop();
    return after();
  };
  const begin = (bracket: '{' | '['): Wanted => {
    open.push(bracket);
    return bracket === '{' ? 'first name' : 'first value';
  };
  const afterMember = (inObject: boolean): Wanted | undefined => {
    if (takeSign(',')) return inObject ? 'name' : 'value';
    return takeSign(inObject ? '}' : ']') ? close() : undefined;
  };
  const step = (): Wanted | undefined => {
    if (wanted === 'more') return afterMember(open.at(-1) === '{');
    if (wanted === 'colon') return takeSign(':') ? 'value' : undefined;
    if (wanted === 'first name' && takeSign('}')) return close();
    if (wanted === 'first value' && takeSign(']')) return close();
    if (wanted === 'name' || wanted === 'first name') return take(TEXT) ? 'colon' : undefined;
    if (takeSign('{')) return begin('{');
    if (takeSign('[')) return begin('[');
    return take(TEXT) || take(SIMPLE) ? after() : undefined;
  };
  for (;;) {
    take(BLANK);
    if (wanted === 'end' && at === text.length) return undefined;
    const next: Wanted | undefined = wanted === 'end' ? undefined : step();
    if (!next) break;
    wanted = next;
  }
  const before = text.slice(0, at).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  return { line: before.length, column, expected: EXPECTED[wanted], came: match(WORD) || undefined };
}
