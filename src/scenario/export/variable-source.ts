/** `${a.b[0].c}` of a scenario as an expression of its test. */
import { parseDuration } from '../../lib/duration.ts';
import type { Step } from '../format/scenario.ts';
import { hasVariable } from '../format/variables.ts';
import { type Known, refuse } from './known.ts';
import { accessed, inTemplate, quoted, type Source, valueSource } from './source.ts';

const VARIABLE = /\$\{([^}]*)\}/g;

/** A value of a step, its variables as expressions. What a test cannot name becomes a problem with the step's line. */
export const stepValue = (known: Known, step: Step, value: unknown): Source =>
  valueSource(value, (text) => textSource(known, step, text));

function textSource(known: Known, step: Step, text: string): Source {
  if (!hasVariable(text)) return quoted(text);
  const found = [...text.matchAll(VARIABLE)];
  if (found[0]?.[0] === text) return expression(known, step, found[0][1] ?? '').source;
  let from = 0;
  const parts = found.map(({ 0: whole, 1: inside = '', index }) => {
    const before = inTemplate(text.slice(from, index));
    from = index + whole.length;
    const { source, isObject } = expression(known, step, inside);
    return `${before}\${${isObject ? `JSON.stringify(${source})` : source}}`;
  });
  return `\`${parts.join('')}${inTemplate(text.slice(from))}\``;
}

interface Expression {
  source: string;
  /** In a longer text it stands as JSON. */
  isObject?: boolean;
}

function expression(known: Known, step: Step, inside: string): Expression {
  const word = inside.trim();
  const [, call, argument = ''] = /^(uuid|hex|now)\(([^()]*)\)$/.exec(word) ?? [];
  if (call === 'uuid') return { source: 'crypto.randomUUID()' };
  if (call === 'hex') {
    known.uses.add('hex');
    return { source: `hex(${argument})` };
  }
  if (call === 'now') {
    known.uses.add('later');
    const ms = argument === '' ? 0 : (parseDuration(argument.slice(1)) ?? 0);
    return { source: `await later(${argument.startsWith('-') && ms > 0 ? '-' : ''}${ms})` };
  }
  const [root = '', ...path] = word.split(/[.[\]]+/).filter(Boolean);
  const named = roots[root]?.(known, path);
  if (named !== undefined) return typeof named === 'string' ? { source: named } : named;
  const reason = reasons[root] ?? 'rewards/testing does not tell it';
  refuse(known, step, `\${${word}} has no value in a test: ${reason}`);
  return { source: 'undefined' };
}

const reasons: Record<string, string> = {
  steps: 'the step of that id is skipped, or does nothing by itself',
};

type Named = (known: Known, path: string[]) => string | Expression | undefined;

const oneOf =
  (base: string, names: Record<string, string>): Named =>
  (_, [name = '', ...rest]) => {
    const own = Object.hasOwn(names, name) ? names[name] : undefined;
    return own === undefined || rest.length > 0 ? undefined : `${base}.${own}`;
  };
const same = (...names: string[]) => Object.fromEntries(names.map((name) => [name, name]));

const roots: Record<string, Named> = {
  repeat: ({ repeat }) => repeat,
  matrix: (_, path) => `matrix${accessed(path)}`,
  env: ({ uses }, [name = '']) => {
    uses.add('environment');
    return `environment(${quoted(name)})`;
  },
  brand: oneOf('stack.brand', { ...same('id', 'domain', 'apiKey'), brandId: 'id' }),
  contracts: oneOf('stack.contracts', same('token', 'escrow', 'perks', 'pointsSale')),
  target: oneOf('stack.urls', {
    ...same('events', 'relay', 'register', 'services', 'site', 'control', 'rpc'),
    url: 'events',
  }),
  accounts({ uses }, [login = '', field = '', ...rest]) {
    if (!['login', 'email', 'address'].includes(field) || rest.length > 0) return undefined;
    uses.add('accounts');
    return `accounts${accessed([login, field])}`;
  },
  vars({ uses, scenario }, path) {
    uses.add('vars');
    const own = path.length === 1 ? scenario.data.vars?.[path[0] ?? ''] : undefined;
    return { source: `vars${accessed(path)}`, isObject: typeof own === 'object' && own !== null };
  },
  steps({ seen }, [id = '', ...path]) {
    const base = seen.get(id);
    if (base === undefined) return undefined;
    const isObject = path.length === 0 || (path.length === 1 && /^(?:body|headers)$/.test(path[0] ?? ''));
    return { source: `${base}${accessed(path)}`, isObject };
  },
};
