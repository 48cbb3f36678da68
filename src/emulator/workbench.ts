/** What `rewards serve` lends the emulator, which knows neither the command line nor scenarios. */
import type { RecordedScenario, ScenarioList } from '../contract/control/jobs.ts';
import type { RequestDetail } from '../contract/control/requests.ts';

/** This program, and the folder and the variables with which it was started. */
export interface Program {
  node: string;
  script: string;
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Options by which its commands find this stack, such as its name. */
  options: readonly string[];
}

export interface Workbench {
  /** Undefined where the program has no process of its own that could be started once more. */
  program: Program | undefined;
  /** The files below `scenarios`; none where there is no such folder. */
  scenarios(): Promise<ScenarioList>;
  /** Requests, in the order in which they came, as a scenario. */
  recorded(
    requests: readonly RequestDetail[],
    of: {
      stack: {
        brands: readonly { brandId: string; domain: string; apiKey: string }[];
        users: readonly { email: string; address: string }[];
        contracts: Readonly<Record<string, string>>;
      };
      name: string;
    },
  ): Promise<RecordedScenario>;
}
