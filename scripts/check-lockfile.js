// Refuses a package-lock.json that names a package without its hash or from another host than npm's public registry.
// `node scripts/check-lockfile.js [FILE]`
import { readFileSync } from 'node:fs';
import { lockfileProblems } from './lockfile.js';

const path = process.argv[2] ?? new URL('../package-lock.json', import.meta.url);
const problems = lockfileProblems(JSON.parse(readFileSync(path, 'utf8')));
for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error(`the lock file is incomplete in ${problems.length} places: run \`npm run lockfile\``);
  process.exitCode = 1;
}
