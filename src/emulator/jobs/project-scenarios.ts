/** The scenarios of a project, and the requests of a stack as one more. */
import type { ControlCall } from '../../client/control-call.ts';
import { requestDetails } from '../../client/request-details.ts';
import type { InputOf } from '../../contract/control/control-endpoint.ts';
import type { recordScenario } from '../../contract/control/jobs.ts';
import { listRequests } from '../../contract/control/requests.ts';
import type { ControlJobsDeps } from '../../http/control/jobs.ts';
import type { Workbench } from '../workbench.ts';

/** What the log gives at once; a scenario of more steps is nothing that anybody reads. */
const REQUESTS_MAX = 500;

type KnownStack = Parameters<Workbench['recorded']>[1]['stack'];

/** People and contracts have names in a scenario in place of their addresses. */
interface Deps {
  workbench: Workbench | undefined;
  call: ControlCall;
  people: () => Promise<Omit<KnownStack, 'contracts'>>;
  facts: Pick<KnownStack, 'contracts'>;
}

export const projectScenarios = ({
  workbench,
  call,
  people,
  facts: { contracts },
}: Deps): ControlJobsDeps['scenarios'] => ({
  list: async () => (workbench ? workbench.scenarios() : { refusal: { code: 'jobs_unsupported' } }),
  async record({ after, title }: InputOf<typeof recordScenario>['query']) {
    if (!workbench) return { refusal: { code: 'jobs_unsupported' } };
    const listed = await call(listRequests, { query: { limit: REQUESTS_MAX, after } });
    if (listed.status !== 200) return { refusal: { code: 'invalid_filter' } };
    const ids = listed.body.requests.map(({ id }) => id);
    const requests = await requestDetails(call, ids.reverse());
    const name = title ?? `recorded with ${requests.length} requests`;
    return workbench.recorded(requests, { stack: { ...(await people()), contracts }, name });
  },
});
