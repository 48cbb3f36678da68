/** Why a file cannot run on a target, found before anything is sent. */
import { needOf } from '../steps/all-steps.ts';
import type { Path } from '../steps/match.ts';
import { type Capability, capabilities } from '../steps/step-context.ts';
import { everyStep, type PlacedProblem, type Scenario } from './scenario.ts';

/** What only a stack of its own can be given. */
const OF_A_STACK = ['clock', 'seed', 'errors'] as const;

/** `isOwn`: each file gets a stack of its own. Every reason, in the order of the file; a step that is left out where it is not supported is none. */
export function unsupportedBy(
  scenario: Scenario,
  can: ReadonlySet<Capability>,
  { isOwn = false } = {},
): PlacedProblem[] {
  const { data, file, placeOf } = scenario;
  const problem = (path: Path, message: string, part: 'key' | 'value' = 'value'): PlacedProblem => ({
    file,
    path: '',
    message,
    ...placeOf(path, part),
  });
  const ofFile = OF_A_STACK.filter((name) => !isOwn && name in data).map((name) =>
    problem([name], `${name} is of a stack of its own, and this target runs already`, 'key'),
  );
  const required = (data.requires ?? []).flatMap((name, place) => {
    const capability = name as Capability;
    return can.has(capability) ? [] : [problem(['requires', place], lacks(capability))];
  });
  const steps = everyStep([...scenario.steps, ...scenario.always]).flatMap((step) => {
    if (step.fields.skip !== undefined || step.fields['if-supported'] === true) return [];
    const need = needOf(step.kind, step.input);
    if (need !== undefined && !can.has(need))
      return [problem([...step.path, step.kind], `${step.kind} cannot be done: ${lacks(need)}`, 'key')];
    const asks = hasDecision(step.fields.expect) && !can.has('controls');
    return asks
      ? [problem([...step.path, 'expect'], `decision cannot be seen: ${lacks('controls')}`, 'key')]
      : [];
  });
  return [...ofFile, ...required, ...steps].sort((one, other) => one.line - other.line);
}

const lacks = (name: Capability) => `this target does not have ${name} (${capabilities[name]})`;

const hasDecision = (expect: unknown) =>
  typeof expect === 'object' && expect !== null && 'decision' in expect;
