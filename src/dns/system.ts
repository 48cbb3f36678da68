/** DNS through the machine's name servers. */
import { lookup, Resolver } from 'node:dns/promises';
import { within } from '../lib/timers.ts';
import type { TxtResolver } from './txt.ts';

/** One server's time for one try, and how often all are tried … */
const TIMEOUT_MS = 1_000;
const TRIES = 2;
/** … but the whole question takes no longer than this, however many servers are silent. */
const LIMIT_MS = 2_500;
/** More records than any honest name has; the rest of a huge answer is ignored. */
const RECORDS_MAX = 50;
const RECORD_LENGTH_MAX = 1_024;

/** `servers` replaces the machine's own name servers, as `address:port`. */
export function systemTxtResolver({ servers }: { servers?: string[] } = {}): TxtResolver {
  return {
    async txtRecords(name) {
      const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
      if (servers) resolver.setServers(servers);
      try {
        const records = await within(LIMIT_MS, resolver.resolveTxt(name));
        if (!records) {
          resolver.cancel();
          throw new Error(`no answer within ${LIMIT_MS} ms`);
        }
        return records
          .slice(0, RECORDS_MAX)
          .map((parts) => parts.join(''))
          .filter((record) => record.length <= RECORD_LENGTH_MAX);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'ENOTFOUND' || code === 'ENODATA') return [];
        throw error;
      }
    },
  };
}

/**
 * All addresses of a name, of both families, from name servers alone: what a machine's own `hosts` file adds is for its
 * programs, not for strangers. Empty when the name has none; rejects when DNS gives no answer.
 */
export function systemAddresses({ servers }: { servers?: string[] } = {}) {
  return async (name: string): Promise<string[]> => {
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    if (servers) resolver.setServers(servers);
    const none = (error: NodeJS.ErrnoException): string[] => {
      if (error.code === 'ENOTFOUND' || error.code === 'ENODATA') return [];
      throw error;
    };
    const both = [resolver.resolve4(name).catch(none), resolver.resolve6(name).catch(none)];
    const found = await within(LIMIT_MS, Promise.all(both));
    if (!found) {
      resolver.cancel();
      throw new Error(`no answer within ${LIMIT_MS} ms`);
    }
    return found.flat();
  };
}

/** As the machine's own programs find a name, `hosts` file and all: for a developer's machine. */
export async function localAddresses(name: string): Promise<string[]> {
  const found = await lookup(name, { all: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOTFOUND') return [];
    throw error;
  });
  return found.map(({ address }) => address);
}
