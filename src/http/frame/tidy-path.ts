/** Paths as routes know them: base addresses that end in a slash make doubled ones, and some clients append one. */
import { getPath } from 'hono/utils/url';

/** For the option `getPath` of every application: `//rewards-api//health/` is `/rewards-api/health`. */
export function tidyPath(request: Request): string {
  const path = getPath(request);
  if (!path.includes('//') && !path.endsWith('/')) return path;
  return path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');
}
