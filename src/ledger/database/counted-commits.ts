/** Commits with numbers, so that a database that has lost its last ones can be told from one that has all. */

/** Told of the commits of a file whose commits are numbered. */
export interface CountedCommits {
  /** The number of the last commit that the file has. */
  opened(commits: number): void;
  /** A commit is on disk; called before anybody is answered. */
  committed(commits: number): void;
}
