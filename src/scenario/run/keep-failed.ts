/** Keeps what a reader needs of a case that failed: the whole stack as it was then, and its requests. */

import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '../../client/create-client.ts';
import { listRequests, showRequest } from '../../contract/control/requests.ts';
import { saveSnapshot } from '../../contract/control/snapshots.ts';
import { controlBody, type ScenarioTarget } from '../steps/step-context.ts';
import type { Kept } from './report.ts';

/** The newest ones, with their bodies: a failure is near its end. */
const REQUESTS_MAX = 200;
/** Of one answer of the stack, which is in this process. */
const TIMEOUT_MS = 30_000;

/** `name`: of the files in `folder`. What cannot be kept is said in `problem`. */
export async function keepFailed(
  { urls, controlToken, can }: ScenarioTarget,
  { folder, name, userAgent }: { folder: string; name: string; userAgent: string },
): Promise<Kept> {
  const kept: Kept = { snapshot: null, requests: null, problem: null };
  const { call } = createClient({ urls, controlToken, timeoutMs: TIMEOUT_MS, userAgent });
  try {
    // It has the keys of its users, be it the emulator's only.
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const { requests } = controlBody(await call(listRequests, { query: { limit: REQUESTS_MAX } }));
    const whole = [];
    for (const { id } of requests) whole.push(controlBody(await call(showRequest, { path: { id } })));
    const log = join(folder, `${name}.requests.json`);
    await writeFile(log, `${JSON.stringify(whole, null, 2)}\n`, { mode: 0o600 });
    kept.requests = log;
    if (!can.has('snapshots')) return { ...kept, problem: 'a stack on Postgres has no snapshots' };
    const saved = controlBody(await call(saveSnapshot, { body: { note: `a failed scenario: ${name}` } }));
    const file = join(folder, `${name}.rewards`);
    await copyFile(saved.file, file);
    return { ...kept, snapshot: file };
  } catch (error) {
    return { ...kept, problem: error instanceof Error ? error.message : String(error) };
  }
}
