/** Looking back on the emulator's requests: `GET requests` and `GET requests/:id` of the control API. */
import { Hono } from 'hono';
import type { RequestRecord } from '../frame/request-record.ts';
import { controlProblem } from './problem.ts';
import { requestDetail, requestSummary } from './request-summary.ts';

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
}

export function controlRequests({ requests, limits, nowMs }: ControlRequestsDeps): Hono {
  const app = new Hono();
  app.get('/', (context) => {
    const wanted = requestFilter(context.req.query());
    if (!wanted) {
      const message = 'Use status=429 or status=4xx, method, path, user, after=<id>, limit=1..500.';
      return controlProblem(context, 400, { error: 'Invalid filter', message });
    }
    return context.json({ requests: requests.list(wanted).map(requestSummary) });
  });
  app.get('/:id', (context) => {
    const name = context.req.param('id');
    const [record, ...more] = requests.find(name);
    if (!record) {
      return controlProblem(context, 404, {
        error: `No request ${name}`,
        message: 'It is not, or no longer, in the log; `rewards requests list` shows what is.',
        details: { reason: 'request_not_found' },
      });
    }
    if (more.length > 0) {
      const ids = [record, ...more].map(({ id }) => id).slice(0, AMBIGUOUS_SHOWN);
      return controlProblem(context, 409, {
        error: `${name} may be any of ${more.length + 1} requests`,
        message: `Give more of the id: ${ids.join(', ')}`,
        details: { reason: 'request_ambiguous', ids },
      });
    }
    return context.json(requestDetail(record, { limits, nowMs: nowMs() }));
  });
  return app;
}

const AMBIGUOUS_SHOWN = 5;
const LIST_DEFAULT = 50;
const LIST_MAX = 500;

function requestFilter(query: Record<string, string>) {
  const limit = query.limit === undefined ? LIST_DEFAULT : Number(query.limit);
  const status = query.status ?? '';
  if (!Number.isInteger(limit) || limit < 1 || limit > LIST_MAX || !/^(?:|[1-5](?:xx|\d\d))$/.test(status))
    return undefined;
  const keep = (record: RequestRecord) =>
    (status === '' || String(record.status).startsWith(status.replace('xx', ''))) &&
    (query.method === undefined || record.method === query.method.toUpperCase()) &&
    (query.path === undefined || record.path.includes(query.path)) &&
    (query.user === undefined ||
      record.traces.some(({ submission }) => submission?.userKey === query.user?.toLowerCase()));
  return { keep, limit, after: query.after };
}
