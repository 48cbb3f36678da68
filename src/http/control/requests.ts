/** Looking back on the emulator's requests: `GET requests` and `GET requests/:id` of the control API. */
import type { InputOf } from '../../contract/control/control-endpoint.ts';
import { listRequests, showRequest } from '../../contract/control/requests.ts';
import type { EventLimits } from '../../rules/events/explain-event.ts';
import { brandOf, decisionOf, type RequestRecord, userOf } from '../frame/request-record.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';
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
  limits: EventLimits;
  nowMs: () => number;
  readReward: ReadReward;
}

export const controlRequests = (deps: ControlRequestsDeps): ControlRoute[] => [
  controlHandler(listRequests, ({ query }) => {
    const { limit, after } = query;
    const found = deps.requests.list({ keep: (record) => isWanted(record, query), limit, after });
    return { requests: found.map(requestSummary) };
  }),
  controlHandler(showRequest, async ({ path: { id: name } }) => {
    const [record, ...more] = deps.requests.find(name);
    if (!record) return { refusal: { code: 'request_not_found', name } };
    if (more.length > 0) {
      const ids = [record, ...more].map(({ id }) => id).slice(0, AMBIGUOUS_SHOWN);
      return { refusal: { code: 'request_ambiguous', name, count: more.length + 1, ids } };
    }
    const detail = requestDetail(record, { limits: deps.limits, nowMs: deps.nowMs() });
    return withRewards(detail, deps.readReward);
  }),
];

const AMBIGUOUS_SHOWN = 5;

type Wanted = InputOf<typeof listRequests>['query'];

const isWanted = (record: RequestRecord, { status, host, brand, decision, method, path, user }: Wanted) =>
  (status === undefined || String(record.status).startsWith(status.replace('xx', ''))) &&
  (host === undefined || record.host === host) &&
  (brand === undefined || isOfBrand(record, brand)) &&
  (decision === undefined || record.traces.some((trace) => decisionOf(trace) === decision)) &&
  (method === undefined || record.method === method.toUpperCase()) &&
  (path === undefined || record.path.includes(path)) &&
  (user === undefined || record.traces.some((trace) => userOf(trace) === user.toLowerCase()));

const isOfBrand = ({ traces }: RequestRecord, brand: string) =>
  traces.some((trace) => brandOf(trace)?.toLowerCase() === brand.toLowerCase());
