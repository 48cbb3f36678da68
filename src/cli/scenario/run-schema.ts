/** `rewards scenario schema`: the schemas that the program itself uses. */
import { scenarioJsonSchema } from '../../scenario/format/scenario-schema.ts';
import { reportJsonSchema } from '../../scenario/reports/report-schema.ts';
import type { Handler } from '../machine/context.ts';

export const printScenarioSchema: Handler<{ of: 'file' | 'report' }> = async (_, { of }) => {
  const schema = of === 'file' ? scenarioJsonSchema() : reportJsonSchema();
  return { ok: true, data: schema, text: () => JSON.stringify(schema, null, 2) };
};
