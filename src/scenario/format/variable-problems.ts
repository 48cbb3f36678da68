/** Variables that cannot have a value, found before anything runs. */

import { nearest } from '../../lib/text/nearest.ts';
import type { FileProblem, YamlDocument } from '../../lib/yaml-document.ts';
import type { Path } from '../steps/match.ts';
import type { Step } from './scenario.ts';
import type { ScenarioFile } from './scenario-schema.ts';
import { hasVariable, type NamedVariable, scopeRoots, variablesIn } from './variables.ts';

/** Steps are in the order in which they run. */
export function variableProblems(
  document: YamlDocument,
  data: ScenarioFile,
  steps: readonly Step[],
): FileProblem[] {
  const known = {
    vars: new Set(Object.keys(data.vars ?? {})),
    matrix: new Set(Object.keys(data.matrix ?? {})),
    steps: new Set<string>(),
    repeat: false,
  };
  const at = (path: Path, message: string) => document.problemAt(path, message);
  const problems = secretsProblems(data, known.vars, at);
  const look = (step: Step, repeats: boolean) => {
    const inside = repeats || 'repeat' in step.fields;
    const { name: _, skip: __, ...fields } = step.fields;
    const own = step.steps.length > 0 ? fields : { ...fields, [step.kind]: step.input };
    for (const { path, text } of textsIn(own, step.path))
      for (const variable of variablesIn(text)) {
        const problem = variableProblem(variable, { ...known, repeat: inside });
        if (problem) problems.push(at(path, problem));
      }
    for (const inner of step.steps) look(inner, inside);
    const { id, save } = step.fields;
    if (typeof id === 'string') {
      if (known.steps.has(id)) problems.push(at([...step.path, 'id'], `${id} is the id of another step`));
      known.steps.add(id);
    }
    for (const name of Object.keys(typeof save === 'object' && save !== null ? save : {}))
      known.vars.add(name);
  };
  for (const step of steps) look(step, false);
  return problems;
}

function secretsProblems(
  { secret = [] }: ScenarioFile,
  vars: ReadonlySet<string>,
  at: (path: Path, message: string) => FileProblem,
): FileProblem[] {
  return secret.flatMap((name, place) =>
    vars.has(name) ? [] : [at(['secret', place], `${name} is not one of vars`)],
  );
}

function variableProblem(
  variable: NamedVariable | { problem: string },
  known: { vars: Set<string>; matrix: Set<string>; steps: Set<string>; repeat: boolean },
): string | undefined {
  if ('problem' in variable) return variable.problem;
  const { root, path } = variable;
  const whole = `\${${[root, ...path].join('.')}}`;
  if (!Object.hasOwn(scopeRoots, root)) {
    const meant = nearest(root, Object.keys(scopeRoots));
    const instead = meant
      ? `did you mean ${meant}?`
      : `they begin with ${Object.keys(scopeRoots).join(', ')}`;
    return `${whole} has no value; ${instead}`;
  }
  if (root === 'repeat') return known.repeat ? undefined : `${whole} has a value only in what is repeated`;
  if (root !== 'vars' && root !== 'matrix' && root !== 'steps') return undefined;
  const [name] = path;
  if (name !== undefined && known[root].has(name)) return undefined;
  const what = {
    vars: 'neither in vars nor saved before',
    matrix: 'not in matrix',
    steps: 'not the id of an earlier step',
  };
  const meant = name === undefined ? undefined : nearest(name, [...known[root]]);
  return `${whole} has no value: ${name ?? 'it'} is ${what[root]}${meant ? `; did you mean ${meant}?` : ''}`;
}

function textsIn(value: unknown, path: Path): { path: Path; text: string }[] {
  if (hasVariable(value)) return [{ path, text: value }];
  if (Array.isArray(value)) return value.flatMap((one, place) => textsIn(one, [...path, place]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => textsIn(one, [...path, key]));
}
