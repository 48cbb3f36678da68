/** Load tests and scenarios over the control API. */
import type { AnswerOf, InputOf } from '../../contract/control/control-endpoint.ts';
import {
  listJobs,
  listScenarios,
  recordScenario,
  showJob,
  startLoad,
  startScenarios,
  stopJob,
} from '../../contract/control/jobs.ts';
import type { ControlRefusal } from '../../contract/control/refusals/control-refusals.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';

type Or<T> = T | { refusal: ControlRefusal };

export interface ControlJobsDeps {
  jobs: {
    list(): AnswerOf<typeof listJobs>['jobs'];
    show(id: string): Or<AnswerOf<typeof showJob>>;
    startLoad(wish: InputOf<typeof startLoad>['body']): Or<AnswerOf<typeof startLoad>>;
    startScenarios(files: readonly string[]): Promise<Or<AnswerOf<typeof startScenarios>>>;
    stop(id: string): Promise<Or<AnswerOf<typeof stopJob>>>;
  };
  scenarios: {
    list(): Promise<Or<AnswerOf<typeof listScenarios>>>;
    record(query: InputOf<typeof recordScenario>['query']): Promise<Or<AnswerOf<typeof recordScenario>>>;
  };
}

export const controlJobs = ({ jobs, scenarios }: ControlJobsDeps): ControlRoute[] => [
  controlHandler(listJobs, () => ({ jobs: jobs.list() })),
  controlHandler(showJob, ({ path }) => jobs.show(path.job)),
  controlHandler(startLoad, ({ body }) => jobs.startLoad(body)),
  controlHandler(startScenarios, ({ body }) => jobs.startScenarios(body.files)),
  controlHandler(stopJob, ({ path }) => jobs.stop(path.job)),
  controlHandler(listScenarios, () => scenarios.list()),
  controlHandler(recordScenario, ({ query }) => scenarios.record(query)),
];
