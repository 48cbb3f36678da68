/** The client script as it is served (contract: GET /sdk.js). */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheableAnswer, entityTagOf } from '../frame/answer.ts';

/** The path prefix that the built script has in it. */
const BUILT_PREFIX = '/rewards-api';
/** The same as event-config's, so that a new script reaches every page soon. */
const MAX_AGE_SECONDS = 300;

const HEADERS = {
  'content-type': 'text/javascript; charset=utf-8',
  'cache-control': `public, max-age=${MAX_AGE_SECONDS}`,
  'x-content-type-options': 'nosniff',
  // Pages that isolate themselves take scripts of other hosts only when those agree.
  'cross-origin-resource-policy': 'cross-origin',
};

interface ClientScript {
  /** 200 with the script, or 304 when the caller's `If-None-Match` names it. Rejects when the file cannot be read. */
  serve(request: Pick<Request, 'headers'>): Promise<Response>;
}

/** `path` is the built script, read at the first request; `apiPrefix` is where this service has its endpoints. */
export function createClientScript({ path, apiPrefix }: { path: string; apiPrefix: string }): ClientScript {
  let reading: Promise<{ text: string; etag: string }> | undefined;
  const read = async () => {
    const built = await readFile(path, 'utf8');
    const text = built.replaceAll(BUILT_PREFIX, apiPrefix);
    return { text, etag: entityTagOf(text) };
  };
  return {
    async serve(request) {
      reading ??= read();
      const script = await reading.catch((error: unknown) => {
        reading = undefined;
        throw error;
      });
      return cacheableAnswer(request, { ...script, headers: HEADERS });
    },
  };
}

/** Where the build puts the script: found from the package's root, from the source and from the bundle alike. */
export function clientScriptPath(): string {
  for (let dir = dirname(fileURLToPath(import.meta.url)); ; dir = dirname(dir)) {
    if (existsSync(join(dir, 'package.json'))) return join(dir, 'dist', 'sdk.js');
    if (dirname(dir) === dir) throw new Error('the package has no root');
  }
}
