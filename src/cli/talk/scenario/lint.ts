/** `rewards scenario lint|schema`: every problem of the files, and the schema of their format, without a service. */

import { scenarioJsonSchema } from '../../../scenario/format/scenario-schema.ts';
import { reportJsonSchema } from '../../../scenario/reports/report-schema.ts';
import type { Handler } from '../../machine/context.ts';
import { problemOf } from '../../machine/errors.ts';
import { problemText } from '../../machine/output.ts';
import { problemsError, problemsText, readScenarioFiles } from './find-files.ts';

export const lintScenarioFiles: Handler<{ files: string[] }> = async (context, { files }) => {
  const { scenarios, problems } = await readScenarioFiles(context, files);
  const data = { files: scenarios.map(({ file, data: { name } }) => ({ file, name })), problems };
  if (problems.length === 0) {
    const count = scenarios.length;
    return {
      ok: true,
      data,
      text: (style) => style.green(`${count} ${count === 1 ? 'file' : 'files'}, no problem`),
    };
  }
  const error = problemOf('E_SCENARIO', problemsError(problems));
  return {
    ok: false,
    error,
    data,
    text: (style) => `${problemsText(problems, style)}\n${problemText(error, style)}`,
  };
};

export const printScenarioSchema: Handler<{ of: 'file' | 'report' }> = async (_, { of }) => {
  const schema = of === 'file' ? scenarioJsonSchema() : reportJsonSchema();
  return { ok: true, data: schema, text: () => JSON.stringify(schema, null, 2) };
};
