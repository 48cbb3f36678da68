/** What `serve` lends its stack for load tests and scenarios; what they need is loaded once they are asked for. */
import type { ScenarioList } from '../../contract/control/jobs.ts';
import type { Workbench } from '../../emulator/workbench.ts';
import type { CommandContext } from '../machine/context.ts';
import { CliError } from '../machine/errors.ts';

export function workbenchOf(context: CommandContext): Workbench {
  const { self, cwd, env } = context.runtime;
  const { name } = context.settings;
  return {
    program: self && { ...self, cwd, env, options: name === undefined ? [] : ['--name', name] },
    scenarios: () => scenariosOf(context),
    async recorded(requests, of) {
      const { recordedScenario } = await import('../../scenario/record/recorded-scenario.ts');
      return recordedScenario(requests, of);
    },
  };
}

/** Of the folder `scenarios`, if it is there. */
async function scenariosOf(context: CommandContext): Promise<ScenarioList> {
  const { readScenarioFiles } = await import('../talk/scenario/find-files.ts');
  try {
    const { scenarios, problems } = await readScenarioFiles(context, []);
    return {
      scenarios: scenarios.map(({ file, data: { name, tags = [] }, steps }) => ({
        file,
        name,
        tags,
        steps: steps.length,
      })),
      problems: problems.map(({ file, line, message }) => ({ file, line, message })),
    };
  } catch (error) {
    if (error instanceof CliError && error.problem.code === 'E_FILE') return { scenarios: [], problems: [] };
    throw error;
  }
}
