/** `${a.b[0].c}` in a scenario: names and three functions, and nothing else. */

import { parseDuration } from '../../lib/duration.ts';
import type { Random } from '../../lib/ids.ts';

/** What a file's variables stand for; `now` is the time by the clock of the target. */
export interface Scope {
  values: Record<string, unknown>;
  nowMs: () => Promise<number>;
  random: Random;
}

/** The names with which a variable may begin. */
export const scopeRoots = {
  vars: 'of `vars`, and what `save` and `--var` have set',
  env: 'environment variables',
  matrix: 'the row of `matrix`',
  steps: 'what a step with that `id` saw',
  accounts: 'users of the stack by login: `accounts.alice.address`, `.email`',
  brand: 'the first brand: `brand.id`, `.domain`, `.apiKey`',
  contracts: 'addresses: `contracts.token`, `.escrow`, `.perks`, `.pointsSale`',
  target: '`target.url`, and `target.<host>` for each host',
  repeat: 'the number of the repetition, from 1',
} as const;

export const scopeFunctions = {
  'uuid()': 'a new UUID',
  'hex(n)': 'n random bytes as hex digits',
  'now(+90s)': 'the time by the clock of the target, and so much later',
} as const;

const VARIABLE = /\$\{([^}]*)\}/g;
const NAME = /^([a-z]+)((?:\.[\w-]+|\[\d+\])*)$/;
const CALL = /^(uuid|hex|now)\(([^()]*)\)$/;

/** Whether a text has a variable in it, so that its value is not known yet. */
export const hasVariable = (value: unknown): value is string =>
  typeof value === 'string' && value.includes('${');

export interface NamedVariable {
  root: string;
  /** Keys and places below the root. */
  path: string[];
}

/** The variables of a text, or what is wrong with one of them. */
export function variablesIn(text: string): (NamedVariable | { problem: string })[] {
  return [...text.matchAll(VARIABLE)].flatMap(
    ([whole, inside = '']): (NamedVariable | { problem: string })[] => {
      const word = inside.trim();
      const call = CALL.exec(word);
      if (call) {
        const problem = callProblem(call[1] ?? '', call[2] ?? '');
        return problem ? [{ problem: `${whole} ${problem}` }] : [];
      }
      const [, root, rest = ''] = NAME.exec(word) ?? [];
      if (root === undefined)
        return [{ problem: `${whole} is not a name such as \${vars.user} or a function such as \${uuid()}` }];
      return [{ root, path: rest.split(/[.[\]]+/).filter(Boolean) }];
    },
  );
}

function callProblem(name: string, argument: string): string | undefined {
  if (name === 'hex')
    return /^[1-9]\d{0,2}$/.test(argument) ? undefined : 'takes a number of bytes, such as hex(4)';
  if (name === 'uuid') return argument === '' ? undefined : 'takes nothing: uuid()';
  const fits = argument === '' || (/^[+-]/.test(argument) && parseDuration(argument.slice(1)) !== undefined);
  return fits ? undefined : 'takes a duration with its sign, such as now(+90s)';
}

/** Thrown when a variable has no value. */
export class VariableError extends Error {
  override name = 'VariableError';
}

/** A value with its variables replaced. A text that is one variable becomes its value, whatever its type. */
export async function resolved(value: unknown, scope: Scope): Promise<unknown> {
  if (typeof value === 'string') return hasVariable(value) ? resolvedText(value, scope) : value;
  if (Array.isArray(value)) {
    const entries: unknown[] = [];
    for (const one of value) entries.push(await resolved(one, scope));
    return entries;
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields: Record<string, unknown> = {};
  for (const [key, one] of Object.entries(value)) fields[key] = await resolved(one, scope);
  return fields;
}

async function resolvedText(text: string, scope: Scope): Promise<unknown> {
  const found = [...text.matchAll(VARIABLE)];
  const [only] = found;
  if (only && only[0] === text) return valueNamed(only[1] ?? '', scope);
  let result = text;
  for (const [whole, inside = ''] of found) {
    const value = await valueNamed(inside, scope);
    result = result.replace(whole, () => (typeof value === 'object' ? JSON.stringify(value) : String(value)));
  }
  return result;
}

async function valueNamed(inside: string, scope: Scope): Promise<unknown> {
  const word = inside.trim();
  const [, call, argument = ''] = CALL.exec(word) ?? [];
  if (call === 'uuid') return scope.random.uuid();
  if (call === 'hex') return Buffer.from(scope.random.bytes(Number(argument))).toString('hex');
  if (call === 'now') {
    const ms =
      argument === '' ? 0 : (parseDuration(argument.slice(1)) ?? 0) * (argument.startsWith('-') ? -1 : 1);
    return new Date((await scope.nowMs()) + ms).toISOString();
  }
  const names = word.split(/[.[\]]+/).filter(Boolean);
  let value: unknown = scope.values;
  for (const [place, name] of names.entries()) {
    const isInside = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
    if (!isInside) {
      const known = typeof value === 'object' && value !== null ? Object.keys(value).slice(0, 20) : [];
      const where = names.slice(0, place).join('.') || 'a scenario';
      const has = known.length > 0 ? `; ${where} has ${known.join(', ')}` : '';
      throw new VariableError(`\${${word}} has no value: there is no ${name} in ${where}${has}`);
    }
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
