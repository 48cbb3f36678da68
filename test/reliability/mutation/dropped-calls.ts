/** Statements that only call something, left out one at a time: a forgotten write, release or lock. */
import { readFileSync } from 'node:fs';
import { parse } from '@babel/parser';
import { seededChance } from '../../kits/run/seeded-chance.ts';
import { type Area, sourceFiles } from './areas.ts';
import type { Change } from './sandbox.ts';

/** So many of an area's, chosen by the seed; all when there are not more. */
export function droppedCalls(area: Area, { count, seed }: { count: number; seed: number }): Change[] {
  const open = sourceFiles(area).flatMap((file) => callsOf(file, area.tests));
  const chance = seededChance(seed);
  const chosen: Change[] = [];
  while (chosen.length < count && open.length > 0) chosen.push(...open.splice(chance.below(open.length), 1));
  return chosen;
}

function callsOf(file: string, tests: readonly string[]): Change[] {
  const text = readFileSync(file, 'utf8');
  const found: Change[] = [];
  walk(parse(text, { sourceType: 'module', plugins: ['typescript'] }), (node) => {
    if (node.type !== 'ExpressionStatement' || !isCall(node.expression)) return;
    const find = text.slice(node.start, node.end);
    // A text that stands there twice names no single place.
    if (text.split(find).length === 2) found.push({ file, find, replace: ';', tests });
  });
  return found;
}

interface Node {
  type: string;
  start: number;
  end: number;
  expression?: Node;
  argument?: Node;
}

function isCall(node: Node | undefined): boolean {
  if (node?.type === 'AwaitExpression') return isCall(node.argument);
  return node?.type === 'CallExpression' || node?.type === 'OptionalCallExpression';
}

function walk(node: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(node)) for (const one of node) walk(one, visit);
  else if (isNode(node)) {
    visit(node);
    for (const value of Object.values(node)) if (typeof value === 'object') walk(value, visit);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}
