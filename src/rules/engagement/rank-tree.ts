/**
 * A tree of counters over scores: how many users have a score in each range. The ranges of a level are 64 times as long
 * as those of the level below, so that the users above any score are found by reading a few ranges of each level, however
 * many users there are.
 */

/** What leaderboards rank by. */
export const boardMetrics = ['rwt_earned', 'activity', 'streak', 'claims'] as const;
export type BoardMetric = (typeof boardMetrics)[number];

/** Ranges of one level in a range of the next. */
const WIDTH = 64;
/** Level 0 counts single scores; the ranges of level 8 are long enough that 32 of them hold every whole number. */
const LEVELS = 9;
export const TOP_LEVEL = LEVELS - 1;

/** The range of a level that holds a score. */
const nodeAt = (score: number, level: number) => Math.floor(score / WIDTH ** level);

/** A range, by its level and its place in it. */
export interface RankNode {
  level: number;
  node: number;
}
export interface CountedNode extends RankNode {
  users: number;
}

/** Text under which a range is found in a map. */
export const nodeText = ({ level, node }: RankNode) => `${level} ${node}`;

/** How the counters of one board change when scores do. A score of 0 is not counted. Ranges that stay as they are are left out. */
export function countedMoves(moves: { before: number; after: number }[]): CountedNode[] {
  const changes = new Map<string, CountedNode>();
  const count = (score: number, users: number) => {
    if (score <= 0) return;
    for (let level = 0; level < LEVELS; level++) {
      const place = { level, node: nodeAt(score, level) };
      const known = changes.get(nodeText(place)) ?? { ...place, users: 0 };
      known.users += users;
      changes.set(nodeText(place), known);
    }
  };
  for (const { before, after } of moves) {
    if (before === after) continue;
    count(before, -1);
    count(after, 1);
  }
  return [...changes.values()].filter(({ users }) => users !== 0);
}

/** The ranges that have to be read to rank these scores: of each level, those beside the ones that hold a score. */
export function rangesBeside(scores: number[]): { level: number; first: number; last: number }[] {
  const wanted = new Map<string, { level: number; first: number; last: number }>();
  for (const score of scores) {
    for (let level = 0; level < LEVELS; level++) {
      const first = Math.floor(nodeAt(score, level) / WIDTH) * WIDTH;
      wanted.set(`${level} ${first}`, { level, first, last: first + WIDTH - 1 });
    }
  }
  return [...wanted.values()];
}

/** The rank of a score, 1 for the highest: one more than the users above it, so that equal scores have equal ranks. */
export function rankOf(score: number, nodes: CountedNode[]): number {
  let above = 0;
  for (const { level, node, users } of nodes) {
    const own = nodeAt(score, level);
    const isBeside = Math.floor(node / WIDTH) === Math.floor(own / WIDTH);
    if (isBeside && node > own) above += users;
  }
  return above + 1;
}

/** A sum over ranges and their users by which two ways of counting are compared; different counts hardly ever give the same. */
export const rankSum = (nodes: CountedNode[]): number =>
  nodes.reduce((sum, { level, node, users }) => sum + users * mixed(level, node), 0);

/** 20 bits that depend on both: sums stay exact up to billions of users. */
function mixed(level: number, node: number): number {
  let bits = Math.imul((node % 2 ** 32) ^ Math.imul(level + 1, 0x9e3779b1), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13) ^ Math.floor(node / 2 ** 32), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) & 0xfffff;
}
