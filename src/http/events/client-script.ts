/** The client script as it is served (contract: GET /sdk.js). */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { entityTagOf, namesTag } from '../frame/entity-tag.ts';

/** The path prefix that the built script has in it. */
const BUILT_PREFIX = '/rewards-api';
/** The same as event-config's, so that a new script reaches every page soon. */
const MAX_AGE_SECONDS = 300;

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
    async serve({ headers }) {
      reading ??= read();
      const { text, etag } = await reading.catch((error: unknown) => {
        reading = undefined;
        throw error;
      });
      const about = {
        ETag: etag,
        'Cache-Control': `public, max-age=${MAX_AGE_SECONDS}`,
        // Pages that isolate themselves take scripts of other hosts only when those agree.
        'Cross-Origin-Resource-Policy': 'cross-origin',
      };
      if (namesTag(headers.get('if-none-match'), etag))
        return new Response(null, { status: 304, headers: about });
      return new Response(text, {
        headers: {
          ...about,
          'Content-Type': 'text/javascript; charset=utf-8',
          'X-Content-Type-Options': 'nosniff',
        },
      });
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
