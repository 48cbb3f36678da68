/** Reads sources as trees: what they import, which functions they have, which names they use. */
import { dirname, join } from 'node:path';
import { parseSync } from 'vite';

export interface Source {
  /** Below src/. */
  file: string;
  text: string;
}
export interface Import {
  target: string;
  offset: number;
  kind: 'static' | 'type' | 'dynamic';
  /** What is taken from it, under its own name. */
  names: string[];
}
export type AstNode = { type: string; start: number; end: number; [key: string]: unknown };
export interface Placed {
  node: AstNode;
  parent: AstNode | undefined;
}

export const isNode = (value: unknown): value is AstNode =>
  typeof value === 'object' && value !== null && typeof (value as AstNode).type === 'string';

function* nodesOf(value: unknown, parent?: AstNode): Generator<Placed> {
  if (Array.isArray(value)) for (const one of value) yield* nodesOf(one, parent);
  if (!isNode(value)) return;
  yield { node: value, parent };
  for (const child of Object.values(value)) yield* nodesOf(child, value);
}

const literal = (value: unknown): string | undefined =>
  isNode(value) && typeof value.value === 'string' ? value.value : undefined;

/** The text of an identifier or of a string; empty for everything else. */
export const nameOf = (value: unknown): string =>
  isNode(value) ? String(value.name ?? literal(value) ?? '') : '';

const trees = new WeakMap<Source, Placed[]>();

/** Every node of a source with its parent, outermost first. */
export function parsed(source: Source): Placed[] {
  const known = trees.get(source);
  if (known) return known;
  const { program, errors } = parseSync(source.file, source.text, {
    lang: source.file.endsWith('.tsx') ? 'tsx' : 'ts',
  });
  if (errors.length > 0) throw new Error(`${source.file} cannot be parsed: ${errors[0]?.message}`);
  const nodes = [...nodesOf(program)];
  trees.set(source, nodes);
  return nodes;
}

/** The line of an offset, from 1. */
export const lineAt = ({ text }: Source, offset: number) => text.slice(0, offset).split('\n').length;

/** Everything that a source imports or exports again, types included. */
export function importsOf(source: Source): Import[] {
  return parsed(source).flatMap(({ node }): Import[] => {
    const offset = node.start;
    if (node.type === 'ImportExpression') {
      return [{ target: literal(node.source) ?? '(computed)', offset, kind: 'dynamic', names: [] }];
    }
    if (node.type === 'TSImportType') {
      return [{ target: literal(node.source) ?? '', offset, kind: 'type', names: [nameOf(node.qualifier)] }];
    }
    if (!/^(Import|ExportNamed|ExportAll)Declaration$/.test(node.type) || !node.source) return [];
    const typeOnly = node.importKind === 'type' || node.exportKind === 'type';
    const names = ((node.specifiers ?? []) as AstNode[]).map((one) =>
      one.type === 'ImportSpecifier' ? nameOf(one.imported) : '*',
    );
    return [{ target: literal(node.source) ?? '', offset, kind: typeOnly ? 'type' : 'static', names }];
  });
}

/** The file below src/ that an import means; undefined for packages and for files outside. */
export function fileMeant(from: string, target: string): string | undefined {
  if (!target.startsWith('.')) return undefined;
  const path = join(dirname(from), target);
  return path.startsWith('..') ? undefined : path;
}

/** `drizzle-orm/pg-core` → `drizzle-orm`. */
export const packageOf = (target: string) =>
  target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');

const isFunction = ({ type }: AstNode) =>
  /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type);

/** Every function of a source with its lines, named after itself or what holds it. */
export function functionsOf(source: Source): { name: string; line: number; lines: number }[] {
  return parsed(source).flatMap(({ node, parent }) => {
    if (!isFunction(node)) return [];
    const line = lineAt(source, node.start);
    const name = nameOf(node.id) || nameOf(parent?.id) || nameOf(parent?.key) || 'a function';
    return [{ name, line, lines: lineAt(source, node.end) - line + 1 }];
  });
}

/** Files that `entry` loads before it does anything: what it imports at once, and what those import. */
export function loadedBy(entry: string, sources: Source[]): { files: Set<string>; packages: Set<string> } {
  const byFile = new Map(sources.map((source) => [source.file, source]));
  const [files, named] = [new Set<string>(), new Set<string>()];
  const visit = (file: string) => {
    const source = byFile.get(file);
    if (!source || files.has(file)) return;
    files.add(file);
    for (const { target, kind } of importsOf(source)) {
      if (kind !== 'static') continue;
      const inner = fileMeant(file, target);
      if (inner) visit(inner);
      else if (!target.startsWith('.') && !target.startsWith('node:')) named.add(packageOf(target));
    }
  };
  visit(entry);
  return { files, packages: named };
}
