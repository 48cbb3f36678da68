/** Leaderboards against the rewards and reports that they count, and the counters of ranks against the scores. */
import { isOnBoards } from '../../ledger/consumers/positions.ts';
import {
  boardPage,
  earnedBy,
  openBoards,
  rankPage,
  scoresOn,
} from '../../ledger/engagement/audited-boards.ts';
import { type Board, EVERY_PLATFORM } from '../../ledger/engagement/boards.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { type BoardMetric, boardMetrics, rankSum, rankSumOf } from '../../rules/engagement/rank-tree.ts';
import { type Audit, isWhole } from '../audit.ts';

const USERS_PER_PAGE = 200;
const RANKS_PER_PAGE = 1_000;

/** Sums over the counters that the scores of a board ask for, by board and metric. */
type RankSums = Map<string, number>;
const sumText = (boardId: number, metric: BoardMetric) => `${boardId} ${metric}`;

/** Compares sums of everything, so it has nothing to say about a part. */
export async function verifyLeaderboards(audit: Audit): Promise<void> {
  if (!isWhole(audit)) return;
  const boards = await openBoards(audit.db);
  const sums: RankSums = new Map();
  const found = new Map<string, number>();
  for (const board of boards) {
    if (board.period !== 'all' || board.platform !== EVERY_PLATFORM || audit.stopped()) continue;
    // What waits to be counted is told by its alarm.
    if (audit.boards.aside.has(board.brandId)) continue;
    const ofBrand = boards.filter(({ brandId }) => brandId === board.brandId);
    found.set(board.brandId, await verifyBrand(audit, { board, ofBrand, sums }));
  }
  for (const board of boards)
    if (!audit.stopped() && !audit.boards.aside.has(board.brandId)) await verifyRanks(audit, board, sums);
  for (const [brandId, counted] of audit.stopped() ? [] : audit.onBoards) {
    const rewards = found.get(brandId) ?? 0;
    if (rewards === counted || audit.boards.aside.has(brandId)) continue;
    const message = `leaderboards have counted ${counted} rewards of ${brandId}, and know users of ${rewards}`;
    audit.findings.add('leaderboard_rewards', {
      message,
      about: { brandId },
      expected: counted,
      found: rewards,
    });
  }
}

/** Every user of a brand is on its board of ever, so that one leads through all of them. Returns how many rewards they have. */
async function verifyBrand(
  audit: Audit,
  { board, ofBrand, sums }: { board: Board; ofBrand: Board[]; sums: RankSums },
): Promise<number> {
  let rewards = 0;
  let after = '';
  for (;;) {
    const userKeys = await boardPage(audit.db, { boardId: board.id, after, limit: USERS_PER_PAGE });
    rewards += await verifyUsers(audit, { brandId: board.brandId, ofBrand, userKeys, sums });
    await audit.breathe();
    after = userKeys.at(-1) ?? '';
    if (userKeys.length < USERS_PER_PAGE || audit.stopped()) return rewards;
  }
}

interface Earned {
  rwt: number;
  claims: number;
}
const NOTHING: Earned = { rwt: 0, claims: 0 };

async function verifyUsers(
  { db, findings, boards }: Audit,
  of: { brandId: BrandId; ofBrand: Board[]; userKeys: string[]; sums: RankSums },
): Promise<number> {
  const { brandId, ofBrand, userKeys, sums } = of;
  const { paid, reported } = await earnedBy(db, {
    brandId,
    userKeys,
    isCounted: (reward) => isOnBoards(boards, reward),
  });
  const expected = new Map(ofBrand.map(({ id }) => [id, new Map<string, Earned>()]));
  for (const { userKey, amount, createdAt, platform } of [...paid, ...reported]) {
    for (const board of ofBrand) {
      const isThere = board.platform === EVERY_PLATFORM || board.platform === platform;
      if (!isThere || createdAt < board.startsAt || createdAt >= board.endsAt) continue;
      const { rwt, claims } = expected.get(board.id)?.get(userKey) ?? NOTHING;
      expected.get(board.id)?.set(userKey, { rwt: rwt + amount, claims: claims + 1 });
    }
  }
  const scores = await scoresOn(db, { boardIds: ofBrand.map(({ id }) => id), userKeys });
  for (const score of scores) {
    const { boardId, userKey, rwtEarned, claims } = score;
    const earned = expected.get(boardId)?.get(userKey) ?? NOTHING;
    expected.get(boardId)?.delete(userKey);
    const values = { rwt_earned: rwtEarned, claims, activity: score.activity, streak: score.streak };
    for (const metric of boardMetrics) {
      if (values[metric] === 0) continue;
      const name = sumText(boardId, metric);
      sums.set(name, (sums.get(name) ?? 0) + rankSumOf(values[metric]));
    }
    if (earned.rwt === rwtEarned && earned.claims === claims) continue;
    findings.add('leaderboard_score', {
      message: `board ${boardId} says ${rwtEarned} RWT in ${claims} claims, rewards and reports say ${earned.rwt} in ${earned.claims}`,
      about: { brandId, board: boardId, userKey },
      expected: `${earned.rwt} in ${earned.claims}`,
      found: `${rwtEarned} in ${claims}`,
    });
  }
  for (const [board, lacking] of expected) {
    for (const [userKey, { rwt, claims }] of lacking) {
      const message = `board ${board} lacks a user with ${rwt} RWT in ${claims} claims`;
      findings.add('leaderboard_score', {
        message,
        about: { brandId, board, userKey },
        expected: `${rwt} in ${claims}`,
      });
    }
  }
  return paid.length;
}

/** The counters by which ranks are found, against the scores. */
async function verifyRanks(audit: Audit, { id: boardId, brandId }: Board, sums: RankSums): Promise<void> {
  const stored: RankSums = new Map();
  let after: Awaited<ReturnType<typeof rankPage>>[number] | undefined;
  do {
    const page = await rankPage(audit.db, { boardId, after, limit: RANKS_PER_PAGE });
    for (const node of page) {
      const key = sumText(boardId, node.metric);
      stored.set(key, (stored.get(key) ?? 0) + rankSum([node]));
    }
    await audit.breathe();
    after = page.length < RANKS_PER_PAGE ? undefined : page.at(-1);
  } while (after && !audit.stopped());
  for (const metric of boardMetrics) {
    const key = sumText(boardId, metric);
    if ((stored.get(key) ?? 0) === (sums.get(key) ?? 0) || audit.stopped()) continue;
    const message = `the counters of ${metric} on board ${boardId} do not fit its users' scores`;
    audit.findings.add('leaderboard_ranks', { message, about: { brandId, board: boardId, metric } });
  }
}
