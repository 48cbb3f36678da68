/** A step with all that stands around it as statements of a test. */
import { everyStep, type Step } from '../format/scenario.ts';
import { hasVariable } from '../format/variables.ts';
import { stepKinds } from '../steps/all-steps.ts';
import { type Known, lineOf, refuse } from './known.ts';
import { accessed, bracketed, quoted, type Source, type Statement, valueSource } from './source.ts';
import { stepValue } from './variable-source.ts';

/** The call, a promise. */
function stepCall(known: Known, step: Step): Source {
  const { kind, input } = step;
  const write = (value: unknown) => stepValue(known, step, value);
  const call = (name: string, ...values: unknown[]): Source => [`stack.${name}(`, ...values.map(write), ')'];
  const fields = (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>;
  if (kind === 'clock') return clockCall(fields, call, write);
  if (kind === 'fault') {
    if (!('clear' in fields)) return call('faults.set', fields);
    return fields.clear === 'all' ? call('faults.clear') : call('faults.clear', fields.clear);
  }
  if (kind === 'verify') return input === 'all' ? call('verify') : call('verify', fields);
  return call(kind === 'check-in' ? 'checkIn' : kind, input);
}

function clockCall(
  fields: Record<string, unknown>,
  call: (name: string, ...values: unknown[]) => Source,
  write: (value: unknown) => Source,
): Source {
  if ('freeze' in fields) {
    if (hasVariable(fields.freeze))
      return ['(', write(fields.freeze), ' ? stack.clock.freeze() : stack.clock.run())'];
    return call(fields.freeze === true ? 'clock.freeze' : 'clock.run');
  }
  const [[name, value] = ['now', undefined]] = Object.entries(fields);
  return call(`clock.${name}`, value);
}

const oneLine = (text: string) => text.replace(/\s*[\r\n\u2028\u2029]+\s*/g, ' ');
const comment = (text: string) => `// ${oneLine(text)}`;

/** Steps in their order. */
export function statementsOf(known: Known, steps: readonly Step[]): Statement[] {
  return steps.flatMap((step) => {
    const { name, skip } = step.fields;
    const title = typeof name === 'string' ? [comment(name)] : [];
    if (typeof skip === 'string') {
      const line = lineOf(known, step);
      known.notes.push({ line, message: `${step.name} is left out, as the scenario skips it: ${skip}` });
      return [...title, comment(`Left out, as the scenario skips it (line ${line}): ${skip}`)];
    }
    if (step.kind === 'note') return [...title, comment(String(step.input))];
    return [
      ...title,
      ...(step.steps.length > 0 ? groupStatements(known, step) : workStatements(known, step)),
    ];
  });
}

function groupStatements(known: Known, { kind, steps, fields }: Step): Statement[] {
  const inside = { ...known, atTop: false };
  if (kind === 'parallel') {
    const parts = steps.map(
      (step): Statement => ({
        head: '(async () => {',
        body: statementsOf(inside, [step]),
        tail: '})(),',
      }),
    );
    return [{ head: 'await Promise.all([', body: parts, tail: ']);' }];
  }
  if (typeof fields.repeat !== 'number') return statementsOf(known, steps);
  const head = `for (let repeat = 1; repeat <= ${fields.repeat}; repeat++) {`;
  return [{ head, body: statementsOf({ ...inside, repeat: 'repeat' }, steps), tail: '}' }];
}

function workStatements(known: Known, step: Step): Statement[] {
  const { id, save, repeat, concurrency, eventually, timeout } = step.fields;
  if (timeout !== undefined) {
    const message = `the wait of ${timeout} is not this step's alone: timeoutMs is of the whole stack`;
    known.notes.push({ line: lineOf(known, step), message });
  }
  const times = typeof repeat === 'number' ? repeat : undefined;
  const call = callOf(known, step, times !== undefined);
  const made = times === undefined ? call : repeatedCall(known, call, { step, times, concurrency });
  const checks = times === undefined ? singleChecks(known, step) : repeatedChecks(known, step);
  const keeps = typeof id === 'string' || save !== undefined;
  if (eventually === undefined && !keeps) {
    const [check, second] = checks;
    if (!check) return [['await ', made, ';']];
    if (times === undefined && !second) return [check(['await ', made])];
  }
  const isNamed = typeof id === 'string' && known.atTop && times === undefined;
  const name = known.freshName(isNamed ? id : times === undefined ? 'answer' : 'answers');
  // Of steps without an answer the library tells fewer fields than a scenario can name.
  const type = keeps && !seesStatus(step) ? ': any' : '';
  const kept = keeps ? keptStatements(known, step, { name, isNamed, isList: times !== undefined }) : [];
  if (eventually === undefined)
    return [[`const ${name}${type} = await `, made, ';'], ...checks.map((check) => check(name)), ...kept];
  const within = typeof eventually === 'string' ? eventually : (eventually as { within: string }).within;
  const tried = triedStatements({ made, checks, keeps, inner: known.freshName('answer') });
  const tail = `}, ${quoted(within)});`;
  const head = `${keeps ? `const ${name}${type} = ` : ''}await stack.eventually(async () => {`;
  return [{ head, body: tried, tail }, ...kept];
}

/** One try of `eventually`. */
function triedStatements(of: { made: Source; checks: Check[]; keeps: boolean; inner: string }): Statement[] {
  const { made, checks, keeps, inner } = of;
  const [check, second] = checks;
  if (!keeps && !check) return [['await ', made, ';']];
  if (!keeps && check && !second) return [check(['await ', made])];
  const all = checks.map((one) => one(inner));
  return [[`const ${inner} = await `, made, ';'], ...all, ...(keeps ? [`return ${inner};`] : [])];
}

const object = (value: unknown) =>
  (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
const seesStatus = ({ kind }: Step) => 'status' in (stepKinds[kind]?.sees ?? {});

/** With the decision, where something is expected of it or another step names it. */
function callOf(known: Known, step: Step, isRepeated: boolean): Source {
  const { expect, id, save } = step.fields;
  const { each, ...rest } = object(expect);
  const saved = Object.values(object(save)).some((path) => path === 'decision');
  const inEach = isRepeated && Object.values(object(each)).some((one) => 'decision' in object(one));
  const isNamed = typeof id === 'string' && known.decisions.has(id);
  const call = stepCall(isRepeated ? { ...known, repeat: 'repeat' } : known, step);
  return 'decision' in rest || inEach || saved || isNamed ? ['stack.decided(', call, ')'] : call;
}

const REPEAT = /\$\{\s*repeat\s*\}/;

function repeatedCall(
  known: Known,
  call: Source,
  { step, times, concurrency }: { step: Step; times: number; concurrency: unknown },
): Source {
  known.uses.add('repeated');
  const atOnce = typeof concurrency === 'number' ? concurrency : 1;
  const parameter = REPEAT.test(JSON.stringify(step.input)) ? 'repeat' : '';
  return [`repeated(${times}, ${atOnce}, async (${parameter}) => `, call, ')'];
}

type Check = (value: Source) => Statement;

/** Without `expect` a step must not be refused. */
function wishOf(step: Step): Record<string, unknown> | undefined {
  const { expect } = step.fields;
  if (expect !== undefined) {
    const { split: _, each: __, ...rest } = object(expect);
    return Object.keys(rest).length > 0 ? rest : undefined;
  }
  if (step.kind === 'verify') return { ok: true };
  return seesStatus(step) ? { status: { $lt: 400 } } : undefined;
}

function singleChecks(known: Known, step: Step): Check[] {
  const wish = wishOf(step);
  if (!wish) return [];
  const expected = stepValue(known, step, wish);
  return [(value) => [bracketed('expectFits(', [value, expected], ')'), ';']];
}

function repeatedChecks(known: Known, step: Step): Check[] {
  const { split, each } = object(step.fields.expect);
  const wish = wishOf(step);
  const checks: Check[] = [];
  if (wish && REPEAT.test(JSON.stringify(wish))) {
    const expected = stepValue({ ...known, repeat: 'place + 1' }, step, wish);
    checks.push((value) => [
      ...['for (const [place, one] of ', value, '.entries()) '],
      ...[bracketed('expectFits(', ['one', expected], ')'), ';'],
    ]);
  } else if (wish) {
    const expected = stepValue(known, step, wish);
    checks.push((value) => [
      ...['for (const one of ', value, ') ', bracketed('expectFits(', ['one', expected], ')'), ';'],
    ]);
  }
  if ((split !== undefined || each !== undefined) && !seesStatus(step)) {
    const message = `${step.kind} has no status, so its repetitions cannot be split by it`;
    refuse(known, step, message);
    return checks;
  }
  if (split !== undefined) checks.push(...splitChecks(known, step, object(split)));
  for (const [status, expected] of Object.entries(object(each))) {
    const source = stepValue(known, step, expected);
    checks.push((value) => [
      ...['for (const one of ', value, `) if (String(one.status) === ${quoted(status)}) `],
      ...[bracketed('expectFits(', ['one', source], ')'), ';'],
    ]);
  }
  return checks;
}

/** Statuses that are not named are differences too. */
function splitChecks(known: Known, step: Step, split: Record<string, unknown>): Check[] {
  known.uses.add('statuses');
  const expected = stepValue(known, step, split);
  if (Object.values(split).every((count) => typeof count === 'number'))
    return [(value) => ['expect(statuses(', value, ')).toEqual(', expected, ');']];
  const names = valueSource(Object.keys(split));
  return [
    (value) => ['expectFits(statuses(', value, '), ', expected, ');'],
    (value) => ['expect(', names, ').toEqual(expect.arrayContaining(Object.keys(statuses(', value, '))));'],
  ];
}

/** What later steps may name; of repetitions the last. */
function keptStatements(
  known: Known,
  step: Step,
  { name, isNamed, isList }: { name: string; isNamed: boolean; isList: boolean },
): Statement[] {
  const { id, save } = step.fields;
  const value = isList ? `${name}[${name}.length - 1]` : name;
  const statements: Statement[] = [];
  if (typeof id === 'string') {
    const place = isNamed ? name : `seen${accessed([id])}`;
    known.seen.set(id, place);
    if (!isNamed) {
      known.uses.add('seen');
      statements.push(`${place} = ${value};`);
    }
  }
  for (const [variable, path] of Object.entries(object(save))) {
    known.uses.add('vars');
    const target = `vars${accessed([variable])}`;
    const parts = String(path)
      .split(/[.[\]]+/)
      .filter(Boolean)
      .map((part) => `?.${accessed([part]).replace(/^\./, '')}`);
    statements.push(
      `${target} = (${value} as any)${parts.join('')};`,
      `expect(${target}, ${quoted(`${path} is not in what the step saw`)}).toBeDefined();`,
    );
  }
  return statements;
}

/** Ids of steps whose decision is named elsewhere. */
export const namedDecisions = (steps: readonly Step[]): ReadonlySet<string> =>
  new Set(
    everyStep(steps).flatMap(({ input, fields }) =>
      [...JSON.stringify([input, fields]).matchAll(/\$\{\s*steps\.([\w-]+)\.decision\s*\}/g)].map(
        ([, id = '']) => id,
      ),
    ),
  );
