/** Reads scenario files: every problem of a file with its place, before anything runs. */
import type { z } from 'zod';
import { nearest } from '../../lib/text/nearest.ts';
import { type FileProblem, parseYaml, type YamlDocument } from '../../lib/yaml-document.ts';
import { stepKinds } from '../steps/all-steps.ts';
import { expectationProblems, type Path } from '../steps/match.ts';
import type { Reading, Step } from './scenario.ts';
import {
  fileSchema,
  groupSchema,
  groups,
  MATRIX_ROWS_MAX,
  modifiers,
  repeatedSees,
  type ScenarioFile,
  stepSchema,
  stepWords,
} from './scenario-schema.ts';
import { variableProblems } from './variable-problems.ts';
import { hasVariable } from './variables.ts';

/** Reads one file. */
export function readScenario(file: string, text: string): Reading {
  const document = parseYaml(file, text, { numberKeys: true });
  const lines = text.split('\n');
  const sourceOf = (line: number) => (lines[line - 1] ?? '').replace(/\r$/, '');
  const refused = (problems: readonly FileProblem[]): Reading => ({
    problems: [...problems]
      .sort((one, other) => one.line - other.line || one.col - other.col)
      .map((problem) => ({ ...problem, source: sourceOf(problem.line) })),
  });
  if (document.problems.length > 0) return refused(document.problems);
  const parsed = fileSchema().safeParse(document.value, { reportInput: true });
  const problems = parsed.success
    ? []
    : parsed.error.issues.flatMap((one) => issueProblems(document, one, fileWords));
  const found: FileProblem[] = [...problems];
  const read = (part: 'steps' | 'always') =>
    readSteps(document, stepsIn(document.value, part), [part], found);
  const [steps, always] = [read('steps'), read('always')];
  if (!parsed.success) return refused(found);
  found.push(...matrixProblems(document, parsed.data));
  found.push(...variableProblems(document, parsed.data, [...steps, ...always]));
  if (found.length > 0) return refused(found);
  return {
    scenario: {
      file,
      data: parsed.data,
      steps,
      always,
      placeOf(path, part = 'value') {
        const { line, col } = part === 'key' ? document.problemAtKey(path, '') : document.problemAt(path, '');
        return { line, col, source: sourceOf(line) };
      },
    },
  };
}

const fileWords = Object.keys(fileSchema().shape);

function stepsIn(value: unknown, part: string): unknown[] {
  const found =
    typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[part] : undefined;
  return Array.isArray(found) ? found : [];
}

function readSteps(document: YamlDocument, steps: unknown[], path: Path, found: FileProblem[]): Step[] {
  return steps.flatMap((value, place) => {
    const step = readStep(document, value, [...path, place], found);
    return step ? [step] : [];
  });
}

function readStep(
  document: YamlDocument,
  value: unknown,
  path: Path,
  found: FileProblem[],
): Step | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    found.push(document.problemAt(path, 'must be a step, such as `event: { … }`'));
    return undefined;
  }
  const fields = value as Record<string, unknown>;
  const known = [...groups, ...Object.keys(stepKinds)];
  const kinds = Object.keys(fields).filter((key) => known.includes(key));
  const [kind] = kinds;
  // `eventually` and `repeat` can stand beside a group named steps.
  if (kinds.length !== 1 || kind === undefined) {
    found.push(kindProblem(document, { path, fields, kinds, known }));
    return undefined;
  }
  const isGroup = (groups as readonly string[]).includes(kind);
  const schema = isGroup ? groupSchema(kind as (typeof groups)[number]) : stepSchema(kind);
  const parsed = schema.safeParse(fields, { reportInput: true });
  if (!parsed.success) {
    const words = isGroup ? [...Object.keys(modifiers), kind, 'repeat'] : [...stepWords, kind];
    found.push(
      ...parsed.error.issues.flatMap((issue) =>
        issueProblems(document, { ...issue, path: [...path, ...issue.path] }, wordsAt(kind, issue, words)),
      ),
    );
  }
  const { [kind]: input, ...around } = fields;
  if (!isGroup && 'expect' in fields) found.push(...expectProblems(document, { kind, fields, path }));
  const inner = isGroup && Array.isArray(input) ? input : [];
  return {
    path,
    kind,
    input,
    fields: around,
    name: typeof fields.name === 'string' ? fields.name : titleOf(kind, input),
    steps: readSteps(document, inner, [...path, kind], found),
  };
}

/** `event account_creation`: what a step without a name is called. */
function titleOf(kind: string, input: unknown): string {
  if (typeof input === 'string') return `${kind}: ${input}`;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return kind;
  const words = Object.values(input).filter((one) => ['string', 'number', 'boolean'].includes(typeof one));
  const text = words.slice(0, 2).join(' ');
  return text === '' ? kind : `${kind} ${text}`.slice(0, 80);
}

function kindProblem(
  document: YamlDocument,
  step: { path: Path; fields: Record<string, unknown>; kinds: string[]; known: string[] },
): FileProblem {
  const { path, fields, kinds, known } = step;
  if (kinds.length > 1) {
    return document.problemAtKey(
      [...path, kinds[1] ?? ''],
      `stands beside ${kinds[0]}; a step does one thing, so make it a step of its own`,
    );
  }
  const strangers = Object.keys(fields).filter((key) => !stepWords.includes(key));
  const [stranger] = strangers;
  if (stranger === undefined)
    return document.problemAt(path, `does nothing; the steps are ${known.join(', ')}`);
  const meant = nearest(stranger, known);
  const instead = meant ? `did you mean ${meant}?` : `the steps are ${known.join(', ')}`;
  return document.problemAtKey([...path, stranger], `is not a step; ${instead}`);
}

/** The words that are known where an issue is: of the step, or of what it does. */
function wordsAt(kind: string, issue: z.core.$ZodIssue, ofStep: string[]): string[] {
  if (issue.path.length === 0) return ofStep;
  let schema: unknown = issue.path[0] === kind ? stepKinds[kind]?.input : undefined;
  for (const key of issue.path.slice(1)) schema = insideOf(schema, key);
  const shape = shapeOf(schema);
  return shape ? Object.keys(shape) : [];
}

type Inner = { shape?: Record<string, unknown>; element?: unknown; unwrap?: () => unknown };

/** Below optional values and others that only wrap. */
function unwrapped(schema: unknown): Inner | undefined {
  let inner = schema as Inner | undefined;
  for (let depth = 0; depth < 5 && inner && !inner.shape && !inner.element && inner.unwrap; depth++)
    inner = inner.unwrap() as Inner;
  return inner;
}

const shapeOf = (schema: unknown) => unwrapped(schema)?.shape;

function insideOf(schema: unknown, key: PropertyKey): unknown {
  const inner = unwrapped(schema);
  return typeof key === 'number' ? inner?.element : inner?.shape?.[String(key)];
}

function expectProblems(
  document: YamlDocument,
  { kind, fields, path }: { kind: string; fields: Record<string, unknown>; path: Path },
): FileProblem[] {
  const at = [...path, 'expect'];
  const { expect } = fields;
  if (typeof expect !== 'object' || expect === null || Array.isArray(expect))
    return [document.problemAt(at, 'must be a map of what the step sees')];
  const sees = [
    ...Object.keys(stepKinds[kind]?.sees ?? {}),
    ...('repeat' in fields ? Object.keys(repeatedSees) : []),
  ];
  const strangers = Object.keys(expect).filter((key) => !sees.includes(key));
  return [
    ...strangers.map((key) => {
      const meant = nearest(key, sees);
      const known = sees.length > 0 ? `${kind} sees ${sees.join(', ')}` : `${kind} sees nothing`;
      return document.problemAtKey(
        [...at, key],
        `cannot be seen; ${meant ? `did you mean ${meant}?` : known}`,
      );
    }),
    ...expectationProblems(expect, hasVariable).map(({ path: inside, message, isKey }) =>
      isKey
        ? document.problemAtKey([...at, ...inside], message)
        : document.problemAt([...at, ...inside], message),
    ),
  ];
}

function issueProblems(document: YamlDocument, issue: z.core.$ZodIssue, words: string[]): FileProblem[] {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const meant = nearest(key, words);
      const instead = meant ? `did you mean ${meant}?` : `it can be ${words.join(', ')}`;
      return document.problemAtKey([...path, key], `is unknown; ${instead}`);
    });
  }
  if (issue.code === 'invalid_union') {
    // The variant that came furthest says most.
    const [first] = issue.errors;
    return (first ?? []).flatMap((inner) =>
      issueProblems(document, { ...inner, path: [...issue.path, ...inner.path] } as z.core.$ZodIssue, words),
    );
  }
  if (issue.code === 'invalid_key')
    return [document.problemAtKey(path, 'is not a name: letters, digits, _ and -')];
  if (issue.input === undefined) return [document.problemAt(path, `is missing: ${issue.message}`)];
  const isShort = typeof issue.input !== 'object' || issue.input === null;
  const given = isShort ? `, not ${JSON.stringify(issue.input)}` : '';
  return [document.problemAt(path, `${issue.message}${given.length > 80 ? '' : given}`)];
}

/** Each row of the matrix; one empty row without a matrix. */
export function matrixRows({ matrix = {} }: ScenarioFile): Record<string, unknown>[] {
  return Object.entries(matrix).reduce<Record<string, unknown>[]>(
    (rows, [name, values]) => rows.flatMap((row) => values.map((value) => ({ ...row, [name]: value }))),
    [{}],
  );
}

function matrixProblems(document: YamlDocument, data: ScenarioFile): FileProblem[] {
  const rows = Object.values(data.matrix ?? {}).reduce((product, values) => product * values.length, 1);
  if (rows <= MATRIX_ROWS_MAX) return [];
  return [document.problemAtKey(['matrix'], `has ${rows} rows; ${MATRIX_ROWS_MAX} are the most`)];
}
