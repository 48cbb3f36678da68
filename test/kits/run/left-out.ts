/** What a machine lacks for some of the tests: they are left out, and one line at the end of the run says for want of what. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where workers write what they lack; set at the start of a run. */
const FILE = 'REWARDS_TEST_LEFT_OUT_FILE';

/**
 * Tells the end of the run that tests are left out for want of a part of the machine, and gives the reason to skip them
 * with. Throws where every part is required, as in CI; `cause` says there what was seen of the lack.
 */
export function leaveOut(
  part: string,
  remedy: string,
  { env = process.env, cause }: { env?: NodeJS.ProcessEnv; cause?: unknown } = {},
): string {
  const reason = `no ${part} here: its tests are left out (${remedy})`;
  if (env.REWARDS_TEST_REQUIRE === 'all') throw new Error(reason, { cause });
  const file = env[FILE];
  if (file) appendFileSync(file, `${JSON.stringify([part, remedy])}\n`);
  return reason;
}

/** Begins to note what is left out; the function that it gives says it in one line, or nothing where nothing was. */
export function noteLeftOut(env = process.env): () => string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'rewards-left-out-'));
  const file = join(folder, 'parts');
  writeFileSync(file, '');
  env[FILE] = file;
  return () => {
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    rmSync(folder, { recursive: true, force: true });
    // Many files lack the same.
    const parts = new Map(lines.map((line): [string, string] => JSON.parse(line)));
    if (parts.size === 0) return undefined;
    const named = [...parts].sort().map(([part, remedy]) => `${part} (${remedy})`);
    return `left out, since this machine lacks it: ${named.join(', ')}`;
  };
}
