/** docs/scenarios.md says what the schema says: every step, field, modifier, operator and variable. */
import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  fileSchema,
  modifiers,
  repeatedSees,
  workModifiers,
} from '../../src/scenario/format/scenario-schema.ts';
import { scopeFunctions, scopeRoots } from '../../src/scenario/format/variables.ts';
import { stepKinds } from '../../src/scenario/steps/all-steps.ts';
import { operatorTexts } from '../../src/scenario/steps/match.ts';

const path = new URL('../../docs/scenarios.md', import.meta.url).pathname;

const table = (head: string[], rows: string[][]) =>
  [head, head.map(() => '---'), ...rows]
    .map((row, place) => (place === 1 ? `|${row.join('|')}|` : `| ${row.join(' | ')} |`))
    .join('\n');
const code = (word: string) => `\`${word}\``;
const pairs = (texts: Record<string, string>) =>
  Object.entries(texts).map(([name, text]) => [code(name), text]);

type Described = {
  description?: string;
  anyOf?: Described[];
  properties?: Record<string, Described>;
  const?: unknown;
};
const properties = (schema: z.ZodType): Record<string, Described> => {
  const { properties: own, anyOf } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
  }) as Described;
  return own ?? anyOf?.find((one) => one.properties)?.properties ?? {};
};
const described = (fields: Record<string, Described>) =>
  Object.entries(fields).map(([name, { description, properties: inner }]) => {
    const inside = Object.entries(inner ?? {}).map(([key, one]) =>
      `${code(key)} ${one.description ?? ''}`.trim(),
    );
    return [code(name), [description, inside.join('; ')].filter(Boolean).join(': ')];
  });

const ANSWER = ['status', 'headers', 'body'];
/** Every answer has the same three. */
function seen(sees: Record<string, string>): string {
  const isAnswer = ANSWER.every((key) => key in sees);
  const rest = Object.entries(sees).filter(([key]) => !isAnswer || !ANSWER.includes(key));
  const words = rest.map(([key, text]) => `${code(key)} ${text}`);
  return [...(isAnswer ? [`${ANSWER.map(code).join(', ')} of the answer`] : []), ...words].join('; ');
}

const fieldsOf = (name: string): string => {
  const own = properties(stepKinds[name]?.input ?? z.unknown());
  const rows = described(own);
  const input = stepKinds[name]?.input;
  const plain = input?.meta()?.description;
  if (rows.length === 0) return `#### ${code(name)}\n\nA text: ${plain}.`;
  const also = name === 'verify' ? 'Or the word `all`.\n\n' : '';
  return `#### ${code(name)}\n\n${also}${table(['field', 'what it is'], rows)}`;
};

const blocks: Record<string, string> = {
  file: table(['field', 'what it is'], described(properties(fileSchema()))),
  steps: table(
    ['step', 'what it does', 'needs', 'sees'],
    Object.entries(stepKinds).map(([name, { about, needs, needsText, sees }]) => [
      ...[code(name), about, typeof needs === 'string' ? code(needs) : (needsText ?? '')],
      seen(sees),
    ]),
  ),
  fields: Object.keys(stepKinds).map(fieldsOf).join('\n\n'),
  modifiers: table(
    ['field', 'what it is'],
    described(properties(z.strictObject({ ...modifiers, ...workModifiers }))),
  ),
  repeated: table(['field', 'what it is'], pairs(repeatedSees)),
  operators: table(['operator', 'fits what'], pairs(operatorTexts)),
  roots: table(['begins with', 'has'], pairs(scopeRoots)),
  functions: table(['function', 'gives'], pairs(scopeFunctions)),
};

/** `UPDATE_DOCS=1 npx vitest run test/scenarios/reference.test.ts` writes the tables again. */
test.each(Object.keys(blocks))('the part %s of the page is what the schema says', async (name) => {
  const page = await readFile(path, 'utf8');
  const [start, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
  const [before, rest = ''] = page.split(start);
  const [between, after] = rest.split(end);
  if (process.env.UPDATE_DOCS) {
    await writeFile(path, `${before}${start}${blocks[name]}\n${end}${after}`);
    return;
  }
  expect(between).toBe(`${blocks[name]}\n`);
});
