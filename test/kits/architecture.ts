/** Checks sources against the rules of the house: who imports whom, who may ask for the time, how long a file is. */
import { dirname, join } from 'node:path';
import { parseSync } from 'vite';

/** Who may import whom, types included: a layer, and the layers whose files its files may name. */
const foundations = ['ledger', 'rules', 'lib'];
const ports = ['chain', 'webhooks', 'payments', 'identity', 'dns', 'constraints', 'engagement'];
const mayImport: Record<string, string[]> = {
  lib: [],
  rules: ['lib'],
  ledger: ['rules', 'lib'],
  ...Object.fromEntries(ports.map((port) => [port, foundations])),
  actions: [...ports, ...foundations],
  emulator: ['actions', ...ports, ...foundations],
  http: ['actions', ...ports, ...foundations],
  client: ['rules', 'lib'],
  site: ['client', 'rules', 'lib'],
  console: ['client', 'lib'],
  compose: ['http', 'emulator', 'site', 'console', 'actions', ...ports, ...foundations],
  scenario: ['compose', 'client', 'rules', 'lib'],
  load: ['compose', 'client', 'lib'],
  cli: ['compose', 'client', 'scenario', 'load', 'console', 'lib'],
  // Runs in the browser, as a bundle of its own.
  sdk: [],
};

/** Chosen at one place, so that nothing else can know which of them is behind a port. */
const adapters = [
  /^ledger\/(sqlite|postgres)\.ts$/,
  /^chain\/(anvil|local-[a-z-]+)\.ts$/,
  /^identity\/(derived|jwks|local-issuer|provider)\.ts$/,
  /^payments\/(stripe|emulated)\.ts$/,
  /^dns\/(system|fixture)\.ts$/,
];
const isAdapter = (file: string) => adapters.some((pattern) => pattern.test(file));
const compositionRoots = ['compose/create-service.ts', 'compose/create-production.ts', 'compose/doctor.ts'];

/** Packages, and the only files that know them. What is not listed may be imported nowhere. */
const packages: Record<string, RegExp> = {
  'drizzle-orm': /^ledger\//,
  'better-sqlite3': /^(ledger\/sqlite|compose\/data-dir)\.ts$/,
  pg: /^ledger\/postgres\.ts$/,
  viem: /^(chain|identity|emulator|rules)\//,
  '@viem/anvil': /^chain\/anvil\.ts$/,
  '@scure/bip32': /^(chain\/local-key|identity\/derived|compose\/create-service)\.ts$/,
  '@scure/bip39': /^(chain\/local-key|compose\/create-service)\.ts$/,
  'tiny-secp256k1': /^(chain|identity)\//,
  jose: /^identity\//,
  tldts: /^rules\//,
  'email-addresses': /^rules\//,
  hono: /^(http|compose)\//,
  '@hono/node-server': /^(http|compose)\//,
  zod: /^(http|compose|client|scenario)\//,
  'secure-json-parse': /^http\//,
  yaml: /^(compose|scenario)\//,
  commander: /^cli\//,
  picocolors: /^cli\//,
  'std-env': /^cli\//,
  'hdr-histogram-js': /^load\//,
  pino: /^compose\/production-log\.ts$/,
  'prom-client': /^compose\/production-metrics\.ts$/,
};

/** What gives time, chance and settings; everything but these files gets them passed in. */
const sourcesOfChance = new Set([
  ...['process.env', 'Date.now', 'new Date()', 'performance.now', 'Math.random', 'setTimeout', 'setInterval'],
  ...['crypto.randomUUID', 'crypto.getRandomValues', 'randomUUID', 'randomBytes', 'randomInt', 'hrtime'],
]);
const mayUseChance = /^(lib\/|compose\/env\.ts$|sdk\/browser\.ts$)/;

const LINES_MAX = 300;

export interface Source {
  /** Below src/. */
  file: string;
  text: string;
}
interface Import {
  target: string;
  offset: number;
  kind: 'static' | 'type' | 'dynamic';
}
type AstNode = { type: string; start: number; [key: string]: unknown };

const isNode = (value: unknown): value is AstNode =>
  typeof value === 'object' && value !== null && typeof (value as AstNode).type === 'string';

function* nodesOf(
  value: unknown,
  parent?: AstNode,
): Generator<{ node: AstNode; parent: AstNode | undefined }> {
  if (Array.isArray(value)) for (const one of value) yield* nodesOf(one, parent);
  if (!isNode(value)) return;
  yield { node: value, parent };
  for (const child of Object.values(value)) yield* nodesOf(child, value);
}

const literal = (value: unknown): string | undefined =>
  isNode(value) && typeof value.value === 'string' ? value.value : undefined;
const nameOf = (value: unknown): string => (isNode(value) ? String(value.name ?? literal(value) ?? '') : '');

function parsed({ file, text }: Source) {
  const { program, errors } = parseSync(file, text, { lang: 'ts' });
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
  return [...nodesOf(program)];
}

function importsOf(source: Source): Import[] {
  return parsed(source).flatMap(({ node }): Import[] => {
    const offset = node.start;
    if (node.type === 'ImportExpression') {
      return [{ target: literal(node.source) ?? '(computed)', offset, kind: 'dynamic' }];
    }
    if (node.type === 'TSImportType') return [{ target: literal(node.source) ?? '', offset, kind: 'type' }];
    if (!/^(Import|ExportNamed|ExportAll)Declaration$/.test(node.type) || !node.source) return [];
    const typeOnly = node.importKind === 'type' || node.exportKind === 'type';
    return [{ target: literal(node.source) ?? '', offset, kind: typeOnly ? 'type' : 'static' }];
  });
}

/** The file below src/ that an import means; undefined for packages and for files outside. */
function fileMeant(from: string, target: string): string | undefined {
  if (!target.startsWith('.')) return undefined;
  const path = join(dirname(from), target);
  return path.startsWith('..') ? undefined : path;
}

const packageOf = (target: string) =>
  target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');
const layerOf = (file: string) => file.split('/')[0] ?? '';

/** Why `from` may not import `target`, if there is a reason. */
function refuseImport(from: string, { target }: Import): string | undefined {
  const layer = layerOf(from);
  if (target === '(computed)') return 'a computed import cannot be checked';
  if (target.startsWith('node:'))
    return layer === 'rules' || layer === 'sdk' ? `${layer} uses no node:` : undefined;
  if (!target.startsWith('.')) {
    const known = packages[packageOf(target)];
    if (!known) return `no layer may import the package ${packageOf(target)}`;
    return known.test(from) ? undefined : `the package ${packageOf(target)} is not for this file`;
  }
  const file = fileMeant(from, target);
  if (file === undefined) return target.endsWith('/package.json') ? undefined : 'leaves src/';
  const allowed = mayImport[layer];
  if (!allowed) return `the layer ${layer} is not in the table`;
  if (isAdapter(file) && !compositionRoots.includes(from) && !isAdapter(from)) {
    return `an adapter is imported by ${compositionRoots.join(', ')} alone`;
  }
  if (layerOf(file) !== layer && !allowed.includes(layerOf(file)))
    return `${layer} may not import ${layerOf(file)}`;
  return undefined;
}

/** Where an identifier is a field's name, or was judged with its parent. */
const namesSomethingElse = new Set([
  'MemberExpression',
  'Property',
  'ImportSpecifier',
  'TSPropertySignature',
  'PropertyDefinition',
]);

function chanceOf(source: Source): { offset: number; what: string }[] {
  return parsed(source).flatMap(({ node, parent }) => {
    const found = (what: string) => (sourcesOfChance.has(what) ? [{ offset: node.start, what }] : []);
    if (node.type === 'NewExpression' && nameOf(node.callee) === 'Date') {
      return (node.arguments as unknown[]).length === 0 ? found('new Date()') : [];
    }
    if (node.type === 'MemberExpression') {
      const [object, property] = [nameOf(node.object), nameOf(node.property)];
      return [...found(`${object}.${property}`), ...(object === 'globalThis' ? found(property) : [])];
    }
    // `const { env } = process`, and the same for the clocks.
    if (node.type === 'VariableDeclarator' && isNode(node.id) && node.id.type === 'ObjectPattern') {
      const keys = (node.id.properties as AstNode[]).map((property) => nameOf(property.key));
      return keys.flatMap((key) => found(`${nameOf(node.init)}.${key}`));
    }
    if (node.type === 'ImportSpecifier') return found(nameOf(node.imported));
    const isName = node.type === 'Identifier' && !namesSomethingElse.has(parent?.type ?? '');
    return isName ? found(String(node.name)) : [];
  });
}

/** Everything that breaks a rule, as `file:line → what`. */
export function violations(sources: Source[]): string[] {
  return sources.flatMap((source) => {
    const { file, text } = source;
    const at = (offset: number) => `${file}:${text.slice(0, offset).split('\n').length}`;
    const nodes = parsed(source).filter(({ parent }) => parent?.type === 'Program');
    const isBarrel = nodes.length > 0 && nodes.every(({ node }) => /^Export/.test(node.type) && node.source);
    const lines = text.trimEnd().split('\n').length;
    return [
      ...importsOf(source).flatMap((one) => {
        const reason = refuseImport(file, one);
        return reason ? [`${at(one.offset)} → ${fileMeant(file, one.target) ?? one.target}: ${reason}`] : [];
      }),
      ...(mayUseChance.test(file)
        ? []
        : chanceOf(source).map(({ offset, what }) => `${at(offset)} → ${what}: is passed in, see src/lib`)),
      ...(isBarrel ? [`${file}:1 → barrel: exports only what other files have`] : []),
      ...(lines > LINES_MAX ? [`${file}:${lines} → length: more than ${LINES_MAX} lines`] : []),
      ...(/(^|\/)[^/]*[A-Z_][^/]*$/.test(file) ? [`${file}:1 → name: is not kebab-case`] : []),
    ];
  });
}

/** Files that `entry` loads before it does anything: what it imports at once, and what those import. */
export function loadedBy(entry: string, sources: Source[]): { files: Set<string>; packages: Set<string> } {
  const byFile = new Map(sources.map((source) => [source.file, source]));
  const [files, named] = [new Set<string>(), new Set<string>()];
  const visit = (file: string) => {
    const source = byFile.get(file);
    if (!source || files.has(file)) return;
    files.add(file);
    for (const { target, kind } of importsOf(source)) {
      if (kind !== 'static') continue;
      const inner = fileMeant(file, target);
      if (inner) visit(inner);
      else if (!target.startsWith('.') && !target.startsWith('node:')) named.add(packageOf(target));
    }
  };
  visit(entry);
  return { files, packages: named };
}
