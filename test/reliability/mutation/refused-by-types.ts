/** Which changes the compiler refuses: CI never runs a test of those, and nobody can ship them. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isOpen, type Verdict } from './verdict.ts';

const OUTPUT_MAX_BYTES = 64 * 2 ** 20;
/** What `told` shortens cannot be written back. */
const SHORTENED = 80;

interface Place {
  file: string;
  first: number;
  last: number;
  start: number;
  end: number;
}

/**
 * The verdicts, where an open change that the compiler refuses is `noticed` by `types`. The compiler looks at one change of
 * each file at a time; where its error stands in other lines of the file, it looks at that change alone.
 */
export function judgedByTypes(verdicts: readonly Verdict[]): Verdict[] {
  const open = verdicts.filter((one) => isOpen(one) && replacementOf(one) !== undefined);
  const refused = new Set<Verdict>();
  const sandbox = openCopy();
  try {
    for (let left = [...open]; left.length > 0; ) {
      const round = new Map(left.toReversed().map((one) => [one.where.split(':')[0] ?? '', one]));
      left = left.filter((one) => ![...round.values()].includes(one));
      for (const one of sandbox.refusedOf([...round.values()])) refused.add(one);
    }
  } finally {
    sandbox.close();
  }
  return verdicts.map((one) => (refused.has(one) ? { ...one, outcome: 'noticed', by: 'types' } : one));
}

function replacementOf({ change }: Verdict): string | undefined {
  const replacement = change.slice(change.indexOf('→') + 2);
  return replacement.length < SHORTENED ? replacement : undefined;
}

/** A copy of the source with a compiler. */
function openCopy() {
  const root = process.cwd();
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'types-'));
  cpSync(join(root, 'src'), join(folder, 'src'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const config = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as { include?: string[] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...config, include: ['src'] }));
  const compile = () => {
    const args = ['node_modules/typescript/bin/tsc', '--noEmit', '--incremental', '--pretty', 'false'];
    const how = { cwd: folder, encoding: 'utf8', maxBuffer: OUTPUT_MAX_BYTES } as const;
    const { stdout } = spawnSync(process.execPath, [...args, '--tsBuildInfoFile', 'built.json'], how);
    // A name that is left without use is not counted: nobody would leave it there.
    return [...stdout.matchAll(/^(\S+)\((\d+),\d+\): error TS(?!6133|6138|6192|6196|6198|6199)/gm)].map(
      ([, file = '', line]) => ({
        file,
        line: Number(line),
      }),
    );
  };
  const [first] = compile();
  if (first) throw new Error(`the compiler refuses ${first.file}:${first.line} without any change`);

  /** Those of them that the compiler refuses; each is of another file. */
  const refusedOf = (changes: readonly Verdict[]): Verdict[] => {
    const before = new Map<string, string>();
    for (const change of changes) {
      const { file } = placeOf(change, '');
      const text = readFileSync(join(root, file), 'utf8');
      const { start, end } = placeOf(change, text);
      before.set(file, text);
      writeFileSync(join(folder, file), text.slice(0, start) + replacementOf(change) + text.slice(end));
    }
    const errors = compile();
    for (const [file, text] of before) writeFileSync(join(folder, file), text);
    return changes.filter((change) => {
      const { file, first, last } = placeOf(change, '');
      const ofFile = errors.filter((one) => one.file === file);
      const isThere = ofFile.some(({ line }) => line >= first && line <= last);
      return isThere || (ofFile.length > 0 && (changes.length === 1 || refusedOf([change]).length > 0));
    });
  };
  return { refusedOf, close: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Where a change stands in its file's text. */
export function placeOf({ where }: Verdict, text: string): Place {
  const [file = '', first = 0, column = 0, last = 0, endColumn = 0] = where
    .split(/[:-](?=\d)/)
    .map((part, i) => (i === 0 ? part : Number(part))) as [string, number, number, number, number];
  const lines = text.split('\n');
  const at = (line: number, col: number) =>
    lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0) + col - 1;
  return { file, first, last, start: at(first, column), end: at(last, endColumn) };
}
