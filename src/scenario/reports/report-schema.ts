/** The published schema of the JSON report. */
import { z } from 'zod';
import type { ScenarioReport, StepReport } from '../run/report.ts';

const outcome = z.enum(['passed', 'failed', 'skipped']);
const text = () => z.string().nullable();
const place = {
  file: z.string(),
  line: z.int().min(1),
  col: z.int().min(1),
  source: z.string().meta({ description: 'The line itself.' }),
};
const failure = z.strictObject({
  ...place,
  message: z.string(),
  differences: z.array(z.strictObject({ ...place, what: z.string(), expected: z.string(), got: z.string() })),
  decision: text().meta({ description: 'Why the service decided as it did, where the target tells.' }),
  curl: text().meta({ description: 'The request again, for a shell, without its secrets.' }),
});
const step: z.ZodType<StepReport> = z
  .lazy(() =>
    z.strictObject({
      name: z.string(),
      kind: z.string(),
      line: z.int().min(1),
      status: outcome,
      reason: text(),
      failure: failure.nullable(),
      durationMs: z.int().min(0),
      at: text().meta({ description: 'By the clock of the target, where that is ours.' }),
      requests: z.array(
        z.strictObject({
          method: z.string(),
          url: z.string(),
          status: z.int().nullable(),
          requestId: text(),
        }),
      ),
      steps: z.array(step),
    }),
  )
  .meta({ id: 'StepReport' });

const report = z.strictObject({
  version: z.literal(1),
  program: z.string(),
  target: text(),
  startedAt: z.iso.datetime(),
  durationMs: z.int().min(0),
  totals: z.strictObject({ passed: z.int(), failed: z.int(), skipped: z.int() }),
  files: z.array(
    z.strictObject({
      file: z.string(),
      name: z.string(),
      tags: z.array(z.string()),
      durationMs: z.int(),
      cases: z.array(
        z.strictObject({
          name: z.string(),
          matrix: z.record(z.string(), z.unknown()),
          status: outcome,
          reason: text(),
          failure: failure.nullable(),
          durationMs: z.int().min(0),
          clock: z.strictObject({ start: z.iso.datetime(), end: z.iso.datetime() }).nullable(),
          steps: z.array(step),
          kept: z
            .strictObject({ snapshot: text(), requests: text(), problem: text() })
            .nullable()
            .meta({ description: 'Paths of what --keep-on-fail has kept.' }),
        }),
      ),
    }),
  ),
}) satisfies z.ZodType<ScenarioReport>;

export const reportJsonSchema = (): Record<string, unknown> => ({
  ...z.toJSONSchema(report, { target: 'draft-2020-12' }),
  title: 'The report of `rewards scenario run`',
});
