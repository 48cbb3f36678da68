/**
 * A tree of counters over scores: how many users have a score in each range. The ranges of a level are 64 times as long
 * as those of the level below, so that the users above any score are found by reading a few ranges of each level, however
 * many users there are.
 */

/** What leaderboards rank by. */
export const boardMetrics = ['rwt_earned', 'activity', 'streak', 'claims'] as const;
export type BoardMetric = (typeof boardMetrics)[number];

/** Every name under which a metric may be asked for: an event that is completed is one that was rewarded. */
export const boardMetricNames: Readonly<Record<string, BoardMetric>> = {
  ...(Object.fromEntries(boardMetrics.map((metric) => [metric, metric])) as Record<BoardMetric, BoardMetric>),
  events_completed: 'claims',
};

/** Ranges of one level in a range of the next. */
const WIDTH = 64;
/** Level 0 counts single scores; the ranges of level 8 are long enough that 32 of them hold every whole number. */
const LEVELS = 9;
export const TOP_LEVEL = LEVELS - 1;

/** The range of a level that holds a score. */
const nodeAt = (score: number, level: number) => Math.floor(score / WIDTH ** level);

/**
 * Nobody in the first range of a level is above anybody in the ranges beside it, so it is counted at the top alone, where
 * all users of the board are summed up. Most scores are small: of each, two ranges are counted instead of nine.
 */
const isCounted = ({ level, node }: RankNode) => node > 0 || level === TOP_LEVEL;

/** A range, by its level and its place in it. */
export interface RankNode {
  level: number;
  node: number;
}
export interface CountedNode extends RankNode {
  users: number;
}

/** How the counters of one board change when scores do. A score of 0 is not counted. Ranges that stay as they are are left out. */
export function countedMoves(moves: { before: number; after: number }[]): CountedNode[] {
  let users = new Map<number, number>();
  const count = (place: number, by: number) => users.set(place, (users.get(place) ?? 0) + by);
  for (const { before, after } of moves) {
    if (before === after) continue;
    if (before > 0) count(before, -1);
    if (after > 0) count(after, 1);
  }
  const changes: CountedNode[] = [];
  for (let level = 0; level < LEVELS; level++) {
    const below = users;
    if (level > 0) {
      users = new Map();
      for (const [node, by] of below) count(Math.floor(node / WIDTH), by);
    }
    for (const [node, by] of users)
      if (by !== 0 && isCounted({ level, node })) changes.push({ level, node, users: by });
  }
  return changes;
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

/** What one user with this score adds to the sum over a board's ranges. */
export function rankSumOf(score: number): number {
  if (score === 0) return 0;
  let sum = 0;
  for (let level = 0; level < LEVELS; level++) {
    const node = nodeAt(score, level);
    if (isCounted({ level, node })) sum += mixed(level, node);
  }
  return sum;
}

/** 20 bits that depend on both: sums stay exact up to billions of users. */
function mixed(level: number, node: number): number {
  let bits = Math.imul((node % 2 ** 32) ^ Math.imul(level + 1, 0x9e3779b1), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13) ^ Math.floor(node / 2 ** 32), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) & 0xfffff;
}
