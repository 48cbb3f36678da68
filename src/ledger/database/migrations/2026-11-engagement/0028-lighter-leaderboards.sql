-- Users with equal scores stand in the order of their rows: a new user is written where the one before was, not at a place
-- of its own in each index.
drop index leaderboard_scores_rwt;
drop index leaderboard_scores_claims;
drop index leaderboard_scores_activity;
drop index leaderboard_scores_streak;
create index leaderboard_scores_by_rwt on leaderboard_scores (board_id, rwt_earned) where rwt_earned > 0;
create index leaderboard_scores_by_claims on leaderboard_scores (board_id, claims) where claims > 0;
create index leaderboard_scores_by_activity on leaderboard_scores (board_id, activity) where activity > 0;
create index leaderboard_scores_by_streak on leaderboard_scores (board_id, streak) where streak > 0;
-- The first range of each level but the top one is counted no longer: no rank is found by it.
delete from leaderboard_ranks where node = 0 and level < 8;
