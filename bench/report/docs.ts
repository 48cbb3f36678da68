/** The measured parts of docs/performance.md: each stands between two marks and is written anew by a run. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { Found } from '../groups/found.ts';
import { type Machine, machineText } from './machine.ts';
import { plotsOf } from './pictures.ts';
import type { Row } from './rows.ts';
import { generatorText, roundsHead, roundsLines } from './tables.ts';
import { type RowId, targets, targetText } from './targets.ts';

/** Files of the project, whose folder is the working one. */
const PAGE = 'docs/performance.md';
const IMAGES = 'docs/images';

const mark = (name: string) => ({ from: `<!-- measured: ${name} -->`, to: `<!-- end of ${name} -->` });

/** The text between the marks of `name`; throws when the page has none. */
export function partOf(page: string, name: string): string {
  const { from, to } = mark(name);
  const [start, end] = [page.indexOf(from), page.indexOf(to)];
  if (start === -1 || end === -1) throw new Error(`${PAGE} has no marks of ${name}`);
  return page.slice(start + from.length, end).trim();
}

/** The page with another text between the marks of `name`. */
export function withPart(page: string, name: string, text: string): string {
  const old = partOf(page, name);
  const { from, to } = mark(name);
  const start = page.indexOf(from);
  const end = page.indexOf(to);
  if (old === text) return page;
  return `${page.slice(0, start)}${from}\n${text.trim()}\n${page.slice(end)}`;
}

export const markdownTable = (head: string[], lines: string[][]): string =>
  [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const cellsOf = (row: Row, on: string): string[] => [
  `\`${row.id}\``,
  `${row.value.toLocaleString('en-US')} ${row.unit}`,
  row.baseline === null ? '' : row.baseline.toLocaleString('en-US'),
  row.ratio === null ? '' : `${row.ratio} ×`,
  ...[targetText(row.id), row.met ? 'met' : 'not met', on],
];

/** Rows that this run measured, in place of theirs in `old`; rows that it left out stay as they were. */
export function mergedRows(old: string, rows: Row[], { on, order }: { on: string; order: RowId[] }): string {
  const kept = old.split('\n').flatMap((line): [string, string][] => {
    const id = /^\| `([\w-]+)` \|/.exec(line)?.[1];
    return id ? [[id, line]] : [];
  });
  const lines = new Map<string, string>([
    ...kept,
    ...rows.map((row): [string, string] => [row.id, `| ${cellsOf(row, on).join(' | ')} |`]),
  ]);
  const head = markdownTable(['row', 'value', 'baseline', 'ratio', 'target', '', 'on'], []);
  return [head, ...order.flatMap((id) => lines.get(id) ?? [])].join('\n');
}

/** Writes a part of the page. */
export async function writePart(name: string, text: string): Promise<void> {
  await writeFile(PAGE, withPart(await readFile(PAGE, 'utf8'), name, text));
}

/** Writes one picture of the page. */
export async function writePicture(name: string, svg: string): Promise<void> {
  await mkdir(IMAGES, { recursive: true });
  await writeFile(`${IMAGES}/performance-${name}.svg`, svg);
}

export const dayOf = (date: Date): string => date.toISOString().slice(0, 10);

/** Rows, rounds and pictures of a run. */
export async function writeMeasured(
  { machine, rows, found }: { machine: Machine; rows: Row[]; found: Found },
  date: Date,
): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  const on = dayOf(date);
  await writePart(
    'rows',
    mergedRows(partOf(page, 'rows'), rows, { on, order: Object.keys(targets) as RowId[] }),
  );
  const machineLine = `On ${on}: ${machineText(machine)}.`;
  const lines = roundsLines(found);
  // A run of gas or starts alone has none, and leaves those of the run before.
  if (lines.length > 0) {
    const rounds = markdownTable(['measurement', ...roundsHead.slice(1)], lines);
    await writePart('rounds', `${machineLine} ${sentence(generatorText(found))}\n\n${rounds}`);
  }
  const pictures = plotsOf(found);
  for (const { name, svg } of pictures) await writePicture(name, svg);
  const shown = [...partOf(page, 'pictures').matchAll(/performance-([\w-]+)\.svg/g)].map(
    ([, name]) => name ?? '',
  );
  const all = [...new Set([...shown, ...pictures.map(({ name }) => name)])];
  if (all.length > 0) await writePart('pictures', all.map(pictureText).join('\n\n'));
}

const pictureText = (name: string) => `![${name}](images/performance-${name}.svg)`;

const sentence = (text: string) => (text ? `${text[0]?.toUpperCase()}${text.slice(1)}.` : '');
