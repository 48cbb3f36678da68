/** Which part of an event each sample of a profile belongs to. */
import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Part, partNames, partOfPath } from './parts.ts';

/** A `.cpuprofile`, as far as it is read; times are microseconds. */
export interface Profile {
  nodes: { id: number; callFrame: CallFrame; children?: number[] }[];
  startTime: number;
  samples: number[];
  timeDeltas: number[];
}

export interface CallFrame {
  functionName: string;
  url: string;
  lineNumber: number;
  columnNumber: number;
}

/** Microseconds of the clock of the profile, which is the one of `process.hrtime`. */
export interface Window {
  from: number;
  to: number;
}

const entries = Object.entries(partOfPath).sort(([one], [other]) => other.length - one.length);

/** @param source a path from the root of the project, or the name of a module of Node. */
export function partOf(source: string): Part | undefined {
  const own = source.replace(/^.*node_modules\//, 'node_modules/');
  return entries.find(
    ([path]) =>
      own === path || own.startsWith(path.endsWith('.ts') ? path : `${path}/`) || own === `${path}.js`,
  )?.[1];
}

/** Processor time inside the windows by part, in microseconds; what was idle is left out. */
export function attribute(
  profile: Profile,
  windows: Window[],
  sourceOf: (frame: CallFrame) => string = createSourceOf(),
): Record<Part, number> {
  const found = Object.fromEntries(partNames.map((name) => [name, 0])) as Record<Part, number>;
  const parts = partsOfNodes(profile, sourceOf);
  let now = profile.startTime;
  for (const [place, id] of profile.samples.entries()) {
    const delta = profile.timeDeltas[place] ?? 0;
    now += delta;
    const part = parts.get(id);
    if (part && windows.some(({ from, to }) => now >= from && now < to)) found[part] += delta;
  }
  return found;
}

/** The part of a node is that of the nearest frame, from the innermost outwards, that the table knows. */
function partsOfNodes(
  { nodes }: Profile,
  sourceOf: (frame: CallFrame) => string,
): Map<number, Part | undefined> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const callers = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  const own = new Map(nodes.map(({ id, callFrame }) => [id, partOf(sourceOf(callFrame))]));
  return new Map(
    nodes.map(({ id, callFrame }) => {
      if (callFrame.functionName === '(idle)') return [id, undefined];
      if (callFrame.functionName === '(garbage collector)') return [id, 'garbage'];
      for (let at: number | undefined = id; at !== undefined && byId.has(at); at = callers.get(at)) {
        const part = own.get(at);
        if (part) return [id, part];
      }
      return [id, 'rest'];
    }),
  );
}

/** Where a frame of the built program comes from, by the source maps beside its files. */
export function createSourceOf(): (frame: CallFrame) => string {
  const maps = new Map<string, SourceMap | undefined>();
  return ({ url, lineNumber, columnNumber }) => {
    if (!url.startsWith('file://')) return url;
    const file = fileURLToPath(url);
    if (!maps.has(file)) {
      const map = `${file}.map`;
      maps.set(file, existsSync(map) ? new SourceMap(JSON.parse(readFileSync(map, 'utf8'))) : undefined);
    }
    const entry = maps.get(file)?.findEntry(lineNumber, columnNumber);
    const source = entry && 'originalSource' in entry ? entry.originalSource : file;
    return source.replace(/^(\.\.\/)+/, '');
  };
}
