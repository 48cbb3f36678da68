/** Reads YAML that people wrote: plain values, and for each of them where in the file it stands. */
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
} from 'yaml';

/** A reason why a file cannot be used. Lines and columns count from 1; `path` is empty for the whole file. */
export interface Complaint {
  file: string;
  line: number;
  col: number;
  /** Such as `brands[0].events.purchase.reward`. */
  path: string;
  message: string;
}

export type Path = readonly (string | number)[];

export interface YamlDocument {
  /** Undefined when the text is not YAML at all. */
  value: unknown;
  complaints: Complaint[];
  /** A complaint about the value at `path`, or about its nearest parent when there is none. */
  complain(path: Path, message: string): Complaint;
  /** The same, pointing at the last key of `path` instead of at its value. */
  complainOfKey(path: Path, message: string): Complaint;
}

/** A file above this is no configuration. In characters when a text is given, in bytes when a file is read. */
export const TEXT_MAX = 1_000_000;
/** Uses of anchors in one file; more are an alias bomb, or want a loop and not a file. */
const ALIASES_MAX = 100;
/** What comes after the first few syntax errors mostly follows from them. */
const SYNTAX_COMPLAINTS_MAX = 5;

/** Parses `text`; `file` is only the name that complaints carry. */
export function parseYaml(file: string, text: string): YamlDocument {
  const lines = new LineCounter();
  const complaintAt = (offset: number, path: Path, message: string): Complaint => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(1, line), col: Math.max(1, col), path: pathText(path), message };
  };
  const nothing = (complaints: Complaint[]): YamlDocument => {
    const complain = (path: Path, message: string) => complaintAt(0, path, message);
    return { value: undefined, complaints, complain, complainOfKey: complain };
  };
  if (text.length > TEXT_MAX) return nothing([complaintAt(0, [], tooLarge)]);

  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    // Reported below, with the place of the first one.
    uniqueKeys: false,
    // Without hexadecimal numbers, an address needs no quotes.
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || tag.format !== 'HEX'),
  });

  const root = document.contents;
  const placeOf = (path: Path, part: 'key' | 'value') => locate(document, root, path, part);
  const complain = (path: Path, message: string) => complaintAt(placeOf(path, 'value'), path, message);
  const complainOfKey = (path: Path, message: string) => complaintAt(placeOf(path, 'key'), path, message);
  const complaints = [
    ...[...document.errors, ...document.warnings].slice(0, SYNTAX_COMPLAINTS_MAX).map((problem) => {
      // The parser itself reports that it ran out of stack like any other error.
      const tooDeep = problem.message.includes('call stack');
      const message = tooDeep ? 'is nested too deeply' : `is not YAML as it is read here: ${problem.message}`;
      return complaintAt(problem.pos[0], [], message);
    }),
    ...structureProblems(document, lines).map(({ offset, path, message }) =>
      complaintAt(offset, path, message),
    ),
  ];
  if (complaints.length > 0) return { ...nothing(complaints), complain, complainOfKey };
  try {
    return { value: document.toJS({ maxAliasCount: ALIASES_MAX }), complaints, complain, complainOfKey };
  } catch (error) {
    if (error instanceof ReferenceError) return nothing([complaintAt(0, [], tooManyAliases)]);
    throw error;
  }
}

export const tooLarge = `is larger than ${TEXT_MAX / 1_000_000} MB`;
const tooManyAliases = `uses anchors more than ${ALIASES_MAX} times`;

interface Problem {
  offset: number;
  path: Path;
  message: string;
}

/** What is YAML, but has no plain value: keys twice, keys that are no text, aliases without an end. */
function structureProblems(document: Document.Parsed, lines: LineCounter): Problem[] {
  const problems: Problem[] = [];
  if (countAliases(document) > ALIASES_MAX) return [{ offset: 0, path: [], message: tooManyAliases }];
  visit(document, {
    Map(_, map, ancestors) {
      const path = pathOfAncestors([...ancestors, map]);
      const seen = new Map<string, number>();
      for (const { key } of map.items) {
        const offset = startOf(key);
        if (!isScalar(key) || typeof key.value !== 'string') {
          problems.push({ offset, path, message: 'has a key that is no text' });
          continue;
        }
        const first = seen.get(key.value);
        const at = { offset, path: [...path, key.value] };
        if (key.value === '__proto__') problems.push({ ...at, message: 'is not a key that may be used' });
        if (first === undefined) seen.set(key.value, offset);
        else {
          const { line, col } = lines.linePos(first);
          problems.push({ ...at, message: `is there twice, the first time at ${line}:${col}` });
        }
      }
    },
    Alias(_, alias, ancestors) {
      const at = { offset: startOf(alias), path: pathOfAncestors([...ancestors, alias]) };
      const target = alias.resolve(document);
      if (!target)
        problems.push({ ...at, message: `uses the anchor ${alias.source}, which is not set before` });
      else if (ancestors.includes(target)) problems.push({ ...at, message: 'contains itself' });
    },
  });
  return problems;
}

function countAliases(document: Document.Parsed): number {
  let aliases = 0;
  visit(document, {
    Alias() {
      aliases += 1;
    },
  });
  return aliases;
}

const startOf = (node: unknown): number => (node as Node | null)?.range?.[0] ?? 0;

/** Where the value (or the last key) of `path` begins; what is missing is looked for in its parent. */
function locate(document: Document.Parsed, root: unknown, path: Path, part: 'key' | 'value'): number {
  let node: unknown = root;
  let offset = startOf(node);
  for (const [depth, step] of path.entries()) {
    const inside = isAlias(node) ? node.resolve(document) : node;
    if (!isCollection(inside)) return offset;
    const child: unknown = isMap(inside)
      ? inside.items.find(({ key }) => isScalar(key) && key.value === String(step))
      : inside.items[Number(step)];
    if (child === undefined) return offset;
    const last = depth === path.length - 1;
    node = isPair(child) ? child.value : child;
    // A key without a value has nothing to point at but itself.
    const target = isPair(child) && ((last && part === 'key') || !node) ? child.key : node;
    offset = startOf(target);
  }
  return offset;
}

/** The keys and places that lead to the last of these nodes. */
function pathOfAncestors(nodes: readonly (Document | Node | Pair)[]): Path {
  return nodes.flatMap((node, depth): Path => {
    if (isPair(node)) return isScalar(node.key) ? [String(node.key.value)] : ['?'];
    const parent = nodes[depth - 1];
    if (isCollection(parent) && !isMap(parent)) return [parent.items.indexOf(node)];
    return [];
  });
}

const pathText = (path: Path) =>
  path
    .map((step, depth) => (typeof step === 'number' ? `[${step}]` : `${depth > 0 ? '.' : ''}${step}`))
    .join('');
