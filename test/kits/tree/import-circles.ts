/** Finds files that import each other in a circle, be it only a type. */
import { fileMeant, importsOf, type Source } from './source-tree.ts';

type Graph = Map<string, string[]>;

function graphOf(sources: Source[]): Graph {
  const files = new Set(sources.map(({ file }) => file));
  const targets = (source: Source) =>
    importsOf(source).flatMap(({ target }) => {
      const file = fileMeant(source.file, target);
      return file !== undefined && files.has(file) ? [file] : [];
    });
  return new Map(sources.map((source) => [source.file, [...new Set(targets(source))]]));
}

/** The shortest way from a file back to itself, both ends named; undefined without one. */
function wayBack(graph: Graph, start: string): string[] | undefined {
  const cameFrom = new Map<string, string>();
  const waiting = [start];
  for (const file of waiting) {
    for (const next of graph.get(file) ?? []) {
      if (next === start) {
        const way = [start];
        for (let at: string | undefined = file; at !== undefined && at !== start; at = cameFrom.get(at))
          way.unshift(at);
        return [start, ...way];
      }
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, file);
      waiting.push(next);
    }
  }
  return undefined;
}

/** Circles of imports, as short as they go, until each file in one was named; the first is named again at the end. */
export function circlesIn(sources: Source[]): string[][] {
  const graph = graphOf(sources);
  const told = new Set<string>();
  return [...graph.keys()].toSorted().flatMap((file) => {
    if (told.has(file)) return [];
    const circle = wayBack(graph, file);
    for (const member of circle ?? []) told.add(member);
    return circle ? [circle] : [];
  });
}
