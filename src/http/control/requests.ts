/** Looking back on the emulator's requests: `GET requests` and `GET requests/:id` of the control API. */
import type { Handler } from 'hono';
import type { z } from 'zod';
import { requestHosts, type totalsResult } from '../../contract/control/control.ts';
import { brandOf, decisionOf, type RequestRecord, userOf } from '../frame/request-record.ts';
import { refuse } from './refuse.ts';
import { type ReadReward, requestDetail, requestSummary, withRewards } from './request-summary.ts';

export interface ControlRequestsDeps {
  requests: {
    list(choice: {
      keep: (entry: RequestRecord) => boolean;
      limit: number;
      after?: string | undefined;
    }): RequestRecord[];
    find(name: string): RequestRecord[];
  };
  /** Limits that `explain` shows beside what was sent. */
  limits: { bodyLimitBytes: number; duplicateWindowMs: number };
  nowMs: () => number;
  readReward: ReadReward;
  /** What the ledger holds, in numbers. */
  readTotals: () => Promise<z.output<typeof totalsResult>>;
}

export function controlRequests(deps: ControlRequestsDeps): Record<string, Handler> {
  const { requests, limits, nowMs, readReward, readTotals } = deps;
  return {
    showTotals: async (context) => context.json(await readTotals()),
    listRequests(context) {
      const wanted = requestFilter(context.req.query());
      if (!wanted) return refuse(context, { code: 'invalid_filter' });
      return context.json({ requests: requests.list(wanted).map(requestSummary) });
    },
    async showRequest(context) {
      const name = context.req.param('id') ?? '';
      const [record, ...more] = requests.find(name);
      if (!record) return refuse(context, { code: 'request_not_found', name });
      if (more.length > 0) {
        const ids = [record, ...more].map(({ id }) => id).slice(0, AMBIGUOUS_SHOWN);
        return refuse(context, { code: 'request_ambiguous', name, count: more.length + 1, ids });
      }
      const detail = requestDetail(record, { limits, nowMs: nowMs() });
      return context.json(await withRewards(detail, readReward));
    },
  };
}

const AMBIGUOUS_SHOWN = 5;
const LIST_DEFAULT = 50;
const LIST_MAX = 500;

/** What the query asks for; undefined when it cannot be understood. */
export function requestFilter(query: Record<string, string>) {
  const limit = query.limit === undefined ? LIST_DEFAULT : Number(query.limit);
  const status = query.status ?? '';
  if (!Number.isInteger(limit) || limit < 1 || limit > LIST_MAX || !/^(?:|[1-5](?:xx|\d\d))$/.test(status))
    return undefined;
  if (query.host !== undefined && !requestHosts.some((host) => host === query.host)) return undefined;
  const keep = (record: RequestRecord) =>
    (status === '' || String(record.status).startsWith(status.replace('xx', ''))) &&
    (query.host === undefined || record.host === query.host) &&
    (query.brand === undefined || isOfBrand(record, query.brand)) &&
    (query.decision === undefined || record.traces.some((trace) => decisionOf(trace) === query.decision)) &&
    (query.method === undefined || record.method === query.method.toUpperCase()) &&
    (query.path === undefined || record.path.includes(query.path)) &&
    (query.user === undefined || record.traces.some((trace) => userOf(trace) === query.user?.toLowerCase()));
  const { host, brand, decision, method, path, user, after } = query;
  return { keep, status, host, brand, decision, method, path, user, limit, after };
}

const isOfBrand = ({ traces }: RequestRecord, brand: string) =>
  traces.some((trace) => brandOf(trace)?.toLowerCase() === brand.toLowerCase());
