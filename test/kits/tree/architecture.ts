/** Checks sources against the rules of the house: who imports whom, who may ask for the time, how long things are. */
import { dirname } from 'node:path';
import { circlesIn } from './import-circles.ts';
import {
  fileMeant,
  functionsOf,
  type Import,
  importsOf,
  isNode,
  lineAt,
  nameOf,
  packageOf,
  parsed,
  type Source,
} from './source-tree.ts';

/** Floors whose files a floor's files may name, types included; a folder with a row of its own goes by that. Imports go down only. */
const foundations = ['ledger', 'rules', 'lib'];
const ports = ['chain', 'identity', 'payments', 'webhooks', 'constraints', 'dns'];
const belowHttp = ['actions', 'audit', 'contract', ...ports, 'outgoing', ...foundations];
const mayImport: Record<string, string[]> = {
  lib: [],
  // Requests to strangers' URLs, for webhooks and constraints alike.
  outgoing: ['lib'],
  rules: ['lib'],
  contract: ['rules', 'lib'],
  ledger: ['rules', 'lib'],
  ...Object.fromEntries(ports.map((port) => [port, ['outgoing', ...foundations]])),
  actions: [...ports, 'outgoing', ...foundations],
  audit: [...ports, ...foundations],
  http: belowHttp,
  client: ['contract', 'rules', 'lib'],
  // What a user or an onlooker asks of the chain without the service: wallets, and what accounts own.
  'client/chain': ['chain', 'rules', 'lib'],
  // A running stack as others see it: its ready line and its files. What a stack is made of, it does not know.
  stack: ['site', 'client', 'rules', 'lib'],
  scenario: ['stack', 'client', 'contract', 'rules', 'lib'],
  // An entry of the package, as the command line is: it starts a stack in the process of the program that imports it.
  testing: ['scenario', 'emulator', 'stack', 'client', 'contract', 'rules', 'lib'],
  site: ['client', 'lib'],
  // Pages over the control API, whose endpoints and refusals it has from the contract.
  console: ['client', 'contract', 'rules', 'lib'],
  compose: ['http', ...belowHttp],
  emulator: ['stack', 'site', 'console', 'client', 'compose', 'http', ...belowHttp],
  production: ['stack', 'console', 'compose', 'http', ...belowHttp],
  // The client's calls of the control API take the endpoints themselves.
  load: ['client', 'contract', 'lib'],
  cli: [
    'compose',
    'production',
    'emulator',
    'scenario',
    'load',
    'console',
    'site',
    'stack',
    'client',
    'contract',
    // The forms of a webhook's signature.
    'webhooks',
    // The table of settings, for flags and help.
    'rules',
    'lib',
  ],
  // Runs in the browser, as a bundle of its own.
  sdk: [],
};

/** Rooms that the other rooms of their floor may use: whose money, whose wallet, how much, what is under way. */
const sharedRooms = ['brands', 'wallets', 'rewards', 'limits', 'transactions'];
/**
 * Floors that are divided into rooms: what all of a floor's rooms stand on, and the room of each loose file. A loose
 * file that is not named here is a room of its own.
 */
const rooms: Record<string, { foundations: string[]; looseFiles: Record<string, string> }> = {
  contract: {
    foundations: [
      ...['shapes', 'settings-schema', 'endpoint', 'examples', 'refusals', 'shared-refusals'],
      ...['headers', 'perk-schema', 'permit'],
    ],
    looseFiles: {},
  },
  rules: {
    foundations: ['sanitise'],
    looseFiles: {
      'registration.ts': 'wallets',
      'platforms.ts': 'wallets',
      'user-key.ts': 'wallets',
      'relay-policy.ts': 'relay',
      'decimal.ts': 'rewards',
      'grant-types.ts': 'rewards',
      'constraint.ts': 'constraints',
      'webhook-body.ts': 'webhooks',
      'webhook-schedule.ts': 'webhooks',
    },
  },
  ledger: { foundations: ['database', 'schema', 'counters', 'facts'], looseFiles: {} },
  actions: {
    foundations: [],
    looseFiles: { 'answer-once.ts': 'limits', 'admit-address.ts': 'limits' },
  },
  http: {
    foundations: ['frame', 'openapi', 'reference'],
    looseFiles: {},
  },
};
/** The rooms of the chain in the order in which they build on each other. */
const chainRooms = [
  'alarms',
  'rpc',
  'contracts',
  'lane',
  'indexer',
  'waiting',
  'work',
  'engine',
  'development',
];

/** Chosen at two places, so that nothing else can know which of them is behind a port. */
const adapters = [
  /^ledger\/database\/(sqlite|postgres)\.ts$/,
  /^chain\/development\/anvil\.ts$/,
  /^emulator\/chain\/(journal-writer|supervised-anvil|local-[a-z-]+)\.ts$/,
  /^emulator\/(local-issuer|processor\/[a-z/-]+)\.ts$/,
  /^identity\/(oidc\/)?(jwks|provider)\.ts$/,
  /^identity\/(wallets\/)?derived\.ts$/,
  /^payments\/stripe\.ts$/,
  /^dns\/(system|fixture)\.ts$/,
];
const isAdapter = (file: string) => adapters.some((pattern) => pattern.test(file));
/** Sends with published keys, and takes a chain for its own: nothing that may work on a real one may have it. */
const isForDevelopmentChains = (file: string) => /^chain\/development\/(?!find-anvil\.ts$)/.test(file);
/** The tables that `serve` alone has; its control host shows and sets how users stand in the emulated chat. */
const isOfEmulatorsLedger = (file: string) => file.startsWith('ledger/emulator/');
const mayUseEmulatorsLedger = /^(ledger\/emulator|emulator|http\/control)\//;
const compositionRoots = [
  'emulator/prestarted-node.ts',
  'emulator/create-emulator.ts',
  'emulator/stack/open-stack.ts',
  'emulator/pick-adapters.ts',
  'production/create-production.ts',
  'production/pick-adapters.ts',
];

/** Packages, and the only files that know them. What is not listed may be imported nowhere. */
const packages: Record<string, RegExp> = {
  'drizzle-orm': /^ledger\//,
  'better-sqlite3':
    /^(ledger\/database\/(sqlite|file-lock)|emulator\/snapshots\/store-images|site\/store)\.ts$/,
  '@node-rs/argon2': /^site\/accounts\/stored-secrets\.ts$/,
  pg: /^ledger\/database\/postgres(-sessions)?\.ts$/,
  viem: /^(chain|client\/chain|audit|identity|emulator)\//,
  '@viem/anvil': /^chain\/development\/anvil\.ts$/,
  '@scure/bip32': /^(chain\/lane\/local-key|identity\/(wallets\/)?derived)\.ts$/,
  '@scure/bip39': /^chain\/lane\/local-key\.ts$/,
  secp256k1: /^lib\/secp256k1\.ts$/,
  '@noble/curves': /^lib\/secp256k1\.ts$/,
  'js-sha3': /^lib\/keccak256\.ts$/,
  jose: /^(identity\/|emulator\/local-issuer\.ts$)/,
  'ipaddr.js': /^outgoing\//,
  'request-filtering-agent': /^outgoing\//,
  standardwebhooks: /^webhooks\//,
  tldts: /^rules\//,
  'email-addresses': /^rules\//,
  hono: /^(http|compose|console|emulator|production|site)\//,
  '@hono/node-server': /^(http|compose|site)\//,
  zod: /^(contract|http|client|console|scenario|emulator|site)\//,
  'secure-json-parse': /^http\//,
  'tar-stream': /^emulator\/snapshots\//,
  xmlbuilder2: /^scenario\//,
  yaml: /^(lib\/yaml-document\.ts$|(emulator\/fixture|scenario)\/)/,
  stripe: /^(payments|emulator\/processor|cli\/talk\/webhooks)\//,
  commander: /^cli\//,
  picocolors: /^cli\//,
  ink: /^cli\/view\//,
  react: /^cli\/view\//,
  'hdr-histogram-js': /^load\//,
  pino: /^production\/log\.ts$/,
  'prom-client': /^production\/metrics[a-z-]*\.ts$/,
};

/** What gives time, chance and settings; everything but these files gets them passed in. */
const sourcesOfChance = new Set([
  ...['process.env', 'Date.now', 'new Date()', 'performance.now', 'Math.random', 'setTimeout', 'setInterval'],
  ...['crypto.randomUUID', 'crypto.getRandomValues', 'randomUUID', 'randomBytes', 'randomInt', 'hrtime'],
]);
const mayUseChance = /^(lib\/|compose\/env\.ts$|sdk\/browser\.ts$)/;

const FUNCTION_LINES_MAX = 80;
const FOLDER_FILES_MAX = 25;
const FOLDER_PARTS_MIN = 3;
/** Migrations lie by month and idea; an entry of the package is a floor, however small. */
const mayBeThin = /^(testing$|ledger\/database\/migrations\/)/;
const FILE_LINES_MAX = 450;
/** Written by `npm run contracts`. */
const generated = new Set(['chain/contracts/abis.ts']);

/** What the ledger may use of drizzle: words that both databases understand. */
const drizzleWords: Record<string, string[]> = {
  'drizzle-orm': [
    ...['and', 'asc', 'count', 'desc', 'eq', 'gt', 'gte', 'inArray', 'isNotNull', 'isNull', 'lt', 'lte'],
    ...['or', 'sql', 'SQL'],
  ],
  'drizzle-orm/pg-core': [
    ...['alias', 'bigint', 'customType', 'index', 'integer', 'jsonb', 'pgTable', 'primaryKey', 'text'],
    ...['uniqueIndex', 'PgDatabase', 'PgQueryResultHKT'],
  ],
};
/** The adapters themselves speak one database's language, and lists and rows as parameters are translated for the other. */
const mayUseAllOfDrizzle =
  /^ledger\/database\/(sqlite|postgres|prepared-query|many-values|drizzle-internals)\.ts$/;
const onePostgresOnly = /::|\bilike\b|\bnow\(\)|\binterval\b|->>/gi;

const floorOf = (file: string) => file.split('/')[0] ?? '';
const stem = (name: string) => name.replace(/\.tsx?$/, '');

/** The room that a file of a floor is in. */
function roomOf(file: string): string {
  const [floor = '', second = '', third] = file.split('/');
  return third === undefined ? (rooms[floor]?.looseFiles[second] ?? stem(second)) : second;
}

function refuseRoom(from: string, to: string): string | undefined {
  const floor = floorOf(from);
  const [room, other] = [roomOf(from), roomOf(to)];
  if (room === other) return undefined;
  if (floor === 'chain') {
    const [place, otherPlace] = [chainRooms.indexOf(room), chainRooms.indexOf(other)];
    if (place === -1) return `the room ${room} is not in the order of the chain's rooms`;
    return otherPlace < place ? undefined : `in the chain ${room} comes before ${other}`;
  }
  const divided = rooms[floor];
  if (!divided || divided.foundations.includes(other)) return undefined;
  if (divided.foundations.includes(room))
    return `${room} is for all rooms of ${floor}, it may not know ${other}`;
  return sharedRooms.includes(other) ? undefined : `the room ${room} may not import the room ${other}`;
}

/** Why `from` may not import `target`, if there is a reason. */
function refuseImport(from: string, { target }: Import): string | undefined {
  const floor = floorOf(from);
  if (target === '(computed)') return 'a computed import cannot be checked';
  if (target.startsWith('node:'))
    return ['rules', 'contract', 'sdk'].includes(floor) ? `${floor} uses no node:` : undefined;
  if (!target.startsWith('.')) {
    const known = packages[packageOf(target)];
    if (!known) return `no floor may import the package ${packageOf(target)}`;
    return known.test(from) ? undefined : `the package ${packageOf(target)} is not for this file`;
  }
  const file = fileMeant(from, target);
  if (file === undefined) return target.endsWith('/package.json') ? undefined : 'leaves src/';
  const allowed = mayImport[dirname(from)] ?? mayImport[floor];
  if (!allowed) return `the floor ${floor} is not in the table`;
  if (isAdapter(file) && !compositionRoots.includes(from) && !isAdapter(from))
    return `an adapter is imported by ${compositionRoots.join(', ')} alone`;
  if (isForDevelopmentChains(file) && floor !== 'emulator' && !isForDevelopmentChains(from))
    return 'what prepares development chains is for the emulator alone';
  if (isOfEmulatorsLedger(file) && !mayUseEmulatorsLedger.test(from))
    return "the emulator's tables are in no other ledger";
  if (floorOf(file) === floor) return refuseRoom(from, file);
  return allowed.includes(floorOf(file)) ? undefined : `${floor} may not import ${floorOf(file)}`;
}

/** Words of drizzle that only one of the two databases understands. */
function refuseWords(from: string, { target, names }: Import): string[] {
  if (floorOf(from) !== 'ledger' || mayUseAllOfDrizzle.test(from)) return [];
  if (packageOf(target) !== 'drizzle-orm') return [];
  const words = drizzleWords[target] ?? [];
  return names.flatMap((name) => (words.includes(name) ? [] : [`${name} is not among the portable words`]));
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
      const keys = (node.id.properties as { key?: unknown }[]).map((property) => nameOf(property.key));
      return keys.flatMap((key) => found(`${nameOf(node.init)}.${key}`));
    }
    if (node.type === 'ImportSpecifier') return found(nameOf(node.imported));
    const isName = node.type === 'Identifier' && !namesSomethingElse.has(parent?.type ?? '');
    return isName ? found(String(node.name)) : [];
  });
}

/** Spellings of SQL that one database alone knows, in the ledger's statements and migrations. */
function spellingsOf(source: Source): { line: number; what: string }[] {
  const { file, text } = source;
  if (floorOf(file) !== 'ledger' || mayUseAllOfDrizzle.test(file)) return [];
  const spelled = (part: string, offset: number) =>
    [...part.matchAll(onePostgresOnly)].map((match) => ({
      line: lineAt(source, offset + match.index),
      what: match[0],
    }));
  if (file.endsWith('.sql'))
    return spelled(
      text.replace(/--.*/g, (comment) => ' '.repeat(comment.length)),
      0,
    );
  return parsed(source).flatMap(({ node }) =>
    node.type === 'TemplateElement' ? spelled(text.slice(node.start, node.end), node.start) : [],
  );
}

/** Object literals spread into another one, which only packs their fields into fewer lines. */
const packedSpreadsOf = (source: Source): number[] =>
  parsed(source).flatMap(({ node, parent }) =>
    node.type === 'SpreadElement' &&
    parent?.type === 'ObjectExpression' &&
    isNode(node.argument) &&
    node.argument.type === 'ObjectExpression'
      ? [node.start]
      : [],
  );

function violationsIn(source: Source): string[] {
  const { file, text } = source;
  const at = (offset: number) => `${file}:${lineAt(source, offset)}`;
  const outermost = parsed(source).filter(({ parent }) => parent?.type === 'Program');
  const isBarrel =
    outermost.length > 0 && outermost.every(({ node }) => /^Export/.test(node.type) && node.source);
  const lines = text.trimEnd().split('\n').length;
  return [
    ...importsOf(source).flatMap((one) => {
      const where = `${at(one.offset)} → ${fileMeant(file, one.target) ?? one.target}`;
      const reason = refuseImport(file, one);
      return [...(reason ? [reason] : []), ...refuseWords(file, one)].map((why) => `${where}: ${why}`);
    }),
    ...(mayUseChance.test(file)
      ? []
      : chanceOf(source).map(({ offset, what }) => `${at(offset)} → ${what}: is passed in, see src/lib`)),
    ...functionsOf(source).flatMap(({ name, line, lines: length }) =>
      length > FUNCTION_LINES_MAX
        ? [`${file}:${line} → length: ${name} has ${length} lines, more than ${FUNCTION_LINES_MAX}`]
        : [],
    ),
    ...packedSpreadsOf(source).map((offset) => `${at(offset)} → packed: write the fields out`),
    ...(isBarrel ? [`${file}:1 → barrel: exports only what other files have`] : []),
    ...(lines > FILE_LINES_MAX && !generated.has(file)
      ? [`${file}:${lines} → length: more than ${FILE_LINES_MAX} lines`]
      : []),
    ...(/(^|\/)[^/]*[A-Z_][^/]*$/.test(file) ? [`${file}:1 → name: is not kebab-case`] : []),
  ];
}

/** Folders with fewer than three files and folders: what is in them belongs a level higher. Of whole trees alone. */
export function thinFolders(files: string[]): string[] {
  const inside = new Map<string, Set<string>>();
  for (const file of files)
    for (let path = file; dirname(path) !== '.'; path = dirname(path)) {
      const folder = dirname(path);
      inside.set(folder, (inside.get(folder) ?? new Set()).add(path));
    }
  return [...inside].flatMap(([folder, { size }]) =>
    size < FOLDER_PARTS_MIN && !mayBeThin.test(folder)
      ? [`${folder}/ → length: ${size} parts, fewer than ${FOLDER_PARTS_MIN}`]
      : [],
  );
}

function fullFolders(files: string[]): string[] {
  const counts = new Map<string, number>();
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  return [...counts].flatMap(([folder, count]) =>
    count > FOLDER_FILES_MAX ? [`${folder}/ → length: ${count} files, more than ${FOLDER_FILES_MAX}`] : [],
  );
}

/** Everything that breaks a rule, as `file:line → what`. Of files that are not TypeScript only place and SQL count. */
export function violations(sources: Source[]): string[] {
  const code = sources.filter(({ file }) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'));
  return [
    ...code.flatMap(violationsIn),
    ...sources
      .filter(({ file }) => /\.(ts|sql)$/.test(file))
      .flatMap((source) =>
        spellingsOf(source).map(
          ({ line, what }) => `${source.file}:${line} → ${what}: is not understood by both databases`,
        ),
      ),
    ...circlesIn(code).map((circle) => `circle: ${circle.join(' → ')}`),
    ...fullFolders(sources.map(({ file }) => file)),
  ];
}
