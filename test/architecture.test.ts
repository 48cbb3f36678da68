import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { thinFolders, violations } from './kits/tree/architecture.ts';
import { loadedBy, type Source } from './kits/tree/source-tree.ts';

const root = resolve(import.meta.dirname, '..');

/** Every file below src/, the contracts and their artifacts too: they take up room in their folders. */
const everySource = (): Source[] =>
  readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ file: relative(join(root, 'src'), path), text: readFileSync(path, 'utf8') }));

test('the source keeps to its floors and rooms, its clocks and its sizes', () => {
  const sources = everySource();
  expect(sources.length).toBeGreaterThan(50);
  expect(violations(sources)).toEqual([]);
  expect(thinFolders(sources.map(({ file }) => file))).toEqual([]);
});

test('the command line loads little before it knows what to do', () => {
  const { files, packages: named } = loadedBy('cli/main.ts', everySource());
  const isLight =
    /^(cli|lib)\/|^(compose\/env|client\/(client-error|replay\/effect-names)|production\/(settings|(outside|listener|chain)-settings|start-setting|start-errors)|rules\/(brands\/spec|webhook-body|engagement\/(rank-tree|board-window))|site\/plugin\/hooks|emulator\/faults\/seams)\.ts$/;
  expect([...files].filter((file) => !isLight.test(file))).toEqual([]);
  const isRow =
    /^cli\/(main|(machine|terminal)\/[a-z-]+|.*\/([a-z]+-)?commands|run\/serve-settings|around\/env-formats|setup\/brand-flags|about\/completion-kinds)\.ts$/;
  expect([...files].filter((file) => file.startsWith('cli/') && !isRow.test(file))).toEqual([]);
  expect([...named].filter((name) => !['commander', 'picocolors'].includes(name))).toEqual([]);
});

test('the process has one asynchronous storage, however many stacks: every promise takes along the value of each', () => {
  const making = everySource().filter(({ text }) => text.includes('new AsyncLocalStorage'));
  expect(making.map(({ file }) => file)).toEqual(['lib/async-context.ts']);
});

const roots =
  'emulator/prestarted-node.ts, emulator/create-emulator.ts, emulator/stack/open-stack.ts, emulator/pick-adapters.ts, production/create-production.ts, production/pick-adapters.ts';
const lines = (count: number) => `export function long() {\n${'  work();\n'.repeat(count - 2)}}`;

describe('the check sees', () => {
  test.each([
    [
      'an import upwards',
      'rules/a.ts',
      "\nimport { x } from '../ledger/b.ts';",
      'rules/a.ts:2 → ledger/b.ts: rules may not import ledger',
    ],
    [
      'an import of a type only',
      'lib/a.ts',
      "import type { X } from '../rules/b.ts';",
      'lib/a.ts:1 → rules/b.ts: lib may not import rules',
    ],
    [
      'a type named in place',
      'lib/a.ts',
      "export type X = import('../rules/b.ts').X;",
      'lib/a.ts:1 → rules/b.ts: lib may not import rules',
    ],
    [
      'a lazy import',
      'http/a.ts',
      "await import('../compose/b.ts');",
      'http/a.ts:1 → compose/b.ts: http may not import compose',
    ],
    [
      'an import by name',
      'http/a.ts',
      'export const load = (name: string) => import(name);',
      'http/a.ts:1 → (computed): a computed import cannot be checked',
    ],
    [
      'a re-export',
      'ledger/a.ts',
      "export { x } from '../actions/b.ts';\nexport const y = 1;",
      'ledger/a.ts:1 → actions/b.ts: ledger may not import actions',
    ],
    [
      'a neighbour',
      'chain/work/a.ts',
      "import '../../dns/txt.ts';",
      'chain/work/a.ts:1 → dns/txt.ts: chain may not import dns',
    ],
    [
      'a wire shape that knows an action',
      'contract/relay/a.ts',
      "import type { X } from '../../actions/relay/b.ts';",
      'contract/relay/a.ts:1 → actions/relay/b.ts: contract may not import actions',
    ],
    [
      'a composition that knows what it composes for',
      'compose/a.ts',
      "import '../production/b.ts';",
      'compose/a.ts:1 → production/b.ts: compose may not import production',
    ],
    ...['production', 'scenario', 'load', 'stack', 'compose', 'client'].map((floor) => [
      `an emulator that ${floor} knows`,
      `${floor}/a.ts`,
      "import type { X } from '../emulator/b.ts';",
      `${floor}/a.ts:1 → emulator/b.ts: ${floor} may not import emulator`,
    ]),
    [
      'an emulator that knows production',
      'emulator/a.ts',
      "import '../production/b.ts';",
      'emulator/a.ts:1 → production/b.ts: emulator may not import production',
    ],
    [
      'a client that knows the chain outside of its room',
      'client/a.ts',
      "import '../chain/rpc/rpc.ts';",
      'client/a.ts:1 → chain/rpc/rpc.ts: client may not import chain',
    ],
    [
      'a real service that prepares chains',
      'production/a.ts',
      "import '../chain/development/prepare-chain.ts';",
      'production/a.ts:1 → chain/development/prepare-chain.ts: what prepares development chains is for the emulator alone',
    ],
    [
      "a real service that reads the emulator's tables",
      'production/a.ts',
      "import '../ledger/emulator/chat.ts';",
      "production/a.ts:1 → ledger/emulator/chat.ts: the emulator's tables are in no other ledger",
    ],
    [
      'an adapter',
      'actions/a.ts',
      "import '../dns/system.ts';",
      `actions/a.ts:1 → dns/system.ts: an adapter is imported by ${roots} alone`,
    ],
    [
      'an adapter beside its port',
      'ledger/brands/a.ts',
      "import '../database/sqlite.ts';",
      `ledger/brands/a.ts:1 → ledger/database/sqlite.ts: an adapter is imported by ${roots} alone`,
    ],
    ...['contract', 'rules', 'ledger', 'actions', 'http'].map((floor) => [
      `a room of ${floor} that enters another`,
      `${floor}/relay/a.ts`,
      "import type { X } from '../events/b.ts';",
      `${floor}/relay/a.ts:1 → ${floor}/events/b.ts: the room relay may not import the room events`,
    ]),
    [
      'a shared room that enters one of its guests',
      'ledger/transactions/a.ts',
      "import '../relay/b.ts';",
      'ledger/transactions/a.ts:1 → ledger/relay/b.ts: the room transactions may not import the room relay',
    ],
    [
      'a foundation that knows a room, be it a shared one',
      'ledger/schema/a.ts',
      "import '../brands/b.ts';",
      'ledger/schema/a.ts:1 → ledger/brands/b.ts: schema is for all rooms of ledger, it may not know brands',
    ],
    [
      'a loose file in the room that the table gives it',
      'rules/relay-policy.ts',
      "import './events/b.ts';",
      'rules/relay-policy.ts:1 → rules/events/b.ts: the room relay may not import the room events',
    ],
    [
      'a loose file as a room of its own',
      'ledger/audit-pages.ts',
      "import './relay/b.ts';",
      'ledger/audit-pages.ts:1 → ledger/relay/b.ts: the room audit-pages may not import the room relay',
    ],
    [
      "a chain's room that knows a later one",
      'chain/lane/a.ts',
      "import type { X } from '../indexer/b.ts';",
      'chain/lane/a.ts:1 → chain/indexer/b.ts: in the chain lane comes before indexer',
    ],
    [
      'a room of the chain without a place',
      'chain/misc/a.ts',
      "import '../rpc/b.ts';",
      "chain/misc/a.ts:1 → chain/rpc/b.ts: the room misc is not in the order of the chain's rooms",
    ],
    [
      'a driver',
      'ledger/brands/brands.ts',
      "import pg from 'pg';",
      'ledger/brands/brands.ts:1 → pg: the package pg is not for this file',
    ],
    [
      'a part of a package',
      'http/a.ts',
      "import { eq } from 'drizzle-orm/pg-core';",
      'http/a.ts:1 → drizzle-orm/pg-core: the package drizzle-orm is not for this file',
    ],
    [
      'a package that nobody knows',
      'cli/a.ts',
      "import _ from 'lodash';",
      'cli/a.ts:1 → lodash: no floor may import the package lodash',
    ],
    [
      'input and output in a rule',
      'rules/a.ts',
      "import 'node:fs';",
      'rules/a.ts:1 → node:fs: rules uses no node:',
    ],
    [
      'a folder that nobody knows',
      'misc/a.ts',
      "import '../lib/b.ts';",
      'misc/a.ts:1 → lib/b.ts: the floor misc is not in the table',
    ],
    ['a way out', 'cli/a.ts', "import '../../test/x.ts';", 'cli/a.ts:1 → ../../test/x.ts: leaves src/'],
    [
      'a word that one database knows',
      'ledger/brands/a.ts',
      "import { eq, ilike } from 'drizzle-orm';",
      'ledger/brands/a.ts:1 → drizzle-orm: ilike is not among the portable words',
    ],
    [
      'a column that one database knows',
      'ledger/schema/a.ts',
      "\nimport { pgTable, timestamp } from 'drizzle-orm/pg-core';",
      'ledger/schema/a.ts:2 → drizzle-orm/pg-core: timestamp is not among the portable words',
    ],
    [
      'all of drizzle at once',
      'ledger/brands/a.ts',
      "import * as drizzle from 'drizzle-orm';",
      'ledger/brands/a.ts:1 → drizzle-orm: * is not among the portable words',
    ],
    [
      'another part of drizzle',
      'ledger/brands/a.ts',
      "import { drizzle } from 'drizzle-orm/node-postgres';",
      'ledger/brands/a.ts:1 → drizzle-orm/node-postgres: drizzle is not among the portable words',
    ],
    ...['amount::text', 'name ilike $1', 'now()', "interval '1 day'", 'detail->>$1'].map((spelling) => {
      const word = /::|ilike|now\(\)|interval|->>/.exec(spelling)?.[0];
      return [
        `the spelling ${word}`,
        'ledger/brands/a.ts',
        `\nexport const x = sql\`select \${y}, \n ${spelling.replace('$1', '$'.concat('{z}'))}\`;`,
        `ledger/brands/a.ts:3 → ${word}: is not understood by both databases`,
      ];
    }),
    [
      'a spelling in a migration',
      'ledger/database/migrations/0009-a.sql',
      '-- at now()\ncreate table a (\n  b bigint default NOW()\n);',
      'ledger/database/migrations/0009-a.sql:3 → NOW(): is not understood by both databases',
    ],
    [
      'the environment',
      'cli/a.ts',
      'x = process.env.HOME;',
      'cli/a.ts:1 → process.env: is passed in, see src/lib',
    ],
    [
      'the environment by another name',
      'cli/a.ts',
      'const { env } = process;',
      'cli/a.ts:1 → process.env: is passed in, see src/lib',
    ],
    [
      'the clock',
      'actions/a.ts',
      '\n\nexport const now = () => Date.now();',
      'actions/a.ts:3 → Date.now: is passed in, see src/lib',
    ],
    [
      'the clock as a value',
      'actions/a.ts',
      'export const now = Date.now;',
      'actions/a.ts:1 → Date.now: is passed in, see src/lib',
    ],
    [
      'today',
      'actions/a.ts',
      'new Date(); new Date(5);',
      'actions/a.ts:1 → new Date(): is passed in, see src/lib',
    ],
    ['a timer', 'chain/a.ts', 'setTimeout(work, 5);', 'chain/a.ts:1 → setTimeout: is passed in, see src/lib'],
    [
      'a timer as a value',
      'chain/a.ts',
      'const start = globalThis.setInterval;',
      'chain/a.ts:1 → setInterval: is passed in, see src/lib',
    ],
    ['chance', 'chain/a.ts', 'Math.random();', 'chain/a.ts:1 → Math.random: is passed in, see src/lib'],
    ['bytes', 'compose/a.ts', 'randomBytes(8);', 'compose/a.ts:1 → randomBytes: is passed in, see src/lib'],
    [
      'chance by another name',
      'compose/a.ts',
      "import { randomUUID as id } from 'node:crypto';",
      'compose/a.ts:1 → randomUUID: is passed in, see src/lib',
    ],
    [
      'a barrel',
      'lib/index.ts',
      "export * from './a.ts';\nexport { b } from './b.ts';",
      'lib/index.ts:1 → barrel: exports only what other files have',
    ],
    ['a long function', 'lib/a.ts', `\n${lines(81)}`, 'lib/a.ts:2 → length: long has 81 lines, more than 80'],
    [
      'a long function without a name of its own',
      'lib/a.ts',
      lines(81).replace('function long()', 'const long = () =>'),
      'lib/a.ts:1 → length: long has 81 lines, more than 80',
    ],
    ['a long file', 'lib/a.ts', '// \n'.repeat(451), 'lib/a.ts:451 → length: more than 450 lines'],
    [
      'fields that are packed into a spread',
      'lib/a.ts',
      '\nexport const x = { ...y, ...{ a, b } };',
      'lib/a.ts:2 → packed: write the fields out',
    ],
    ['a name in another case', 'lib/someFile.ts', '', 'lib/someFile.ts:1 → name: is not kebab-case'],
  ])('%s', (_, file = '', text = '', violation) => {
    expect(violations([{ file, text }])).toEqual([violation]);
  });

  test('a circle, once and as short as it goes', () => {
    const sources = [
      { file: 'lib/a.ts', text: "import { b } from './b.ts';" },
      { file: 'lib/b.ts', text: "import type { C } from './c.ts';" },
      { file: 'lib/c.ts', text: "export type C = import('./a.ts').A;\nawait import('./d.ts');" },
      { file: 'lib/d.ts', text: '' },
    ];
    expect(violations(sources)).toEqual(['circle: lib/a.ts → lib/b.ts → lib/c.ts → lib/a.ts']);
  });

  test('two files that name a type of each other', () => {
    const sources = [
      { file: 'lib/a.ts', text: "import type { B } from './b.ts';" },
      { file: 'lib/b.ts', text: "import type { A } from './a.ts';" },
    ];
    expect(violations(sources)).toEqual(['circle: lib/a.ts → lib/b.ts → lib/a.ts']);
  });

  test('a file too many in a folder, whatever it holds', () => {
    const sources = Array.from({ length: 25 }, (_, n) => ({ file: `lib/a${n}.ts`, text: '' }));
    expect(violations(sources)).toEqual([]);
    expect(violations([...sources, { file: 'lib/Token.sol', text: '' }])).toEqual([
      'lib/ → length: 26 files, more than 25',
    ]);
  });

  test('a folder of one or two parts', () => {
    expect(thinFolders(['lib/a/b.ts', 'lib/a/c.ts', 'lib/a/d.ts', 'lib/e.ts'])).toEqual([
      'lib/ → length: 2 parts, fewer than 3',
    ]);
    expect(thinFolders(['testing/a.ts'])).toEqual([]);
  });

  test.each([
    ['words in texts and comments', "// process.env, Date.now()\nexport const text = 'setTimeout';"],
    ['fields of the same name', 'export const take = (deps: { setTimeout: number }) => deps.setTimeout;'],
    ['a date of a given time', 'export const day = (nowMs: number) => new Date(nowMs);'],
    [
      'imports downwards',
      "import { x } from '../../lib/a.ts';\nimport type { Y } from './b.ts';\nexport const z = x as Y;",
    ],
    ['a function of 80 lines', lines(80)],
  ])('nothing wrong with %s', (_, text) => {
    expect(violations([{ file: 'rules/events/a.ts', text }])).toEqual([]);
  });

  test.each([
    [
      'a shared room',
      'actions/relay/a.ts',
      "import '../brands/b.ts';\nimport type { X } from '../limits/c.ts';",
    ],
    [
      'what all rooms stand on',
      'ledger/relay/a.ts',
      "import '../database/database.ts';\nimport '../counters.ts';",
    ],
    [
      "an earlier room of the chain's",
      'chain/work/a.ts',
      "import '../lane/lane.ts';\nimport '../alarms.ts';",
    ],
    [
      'portable SQL',
      'ledger/relay/a.ts',
      "import { eq, sql } from 'drizzle-orm';\nexport const x = sql`lower(a)`;",
    ],
    ['what is generated', 'chain/contracts/abis.ts', '// \n'.repeat(999)],
  ])('nothing wrong with %s', (_, file, text) => {
    expect(violations([{ file, text }])).toEqual([]);
  });

  test('what a program loads at once, and not what it loads later', () => {
    const sources = [
      {
        file: 'cli/main.ts',
        text: "import './a.ts';\nimport type { B } from './b.ts';\nawait import('./c.ts');",
      },
      { file: 'cli/a.ts', text: "import { Command } from 'commander';\nimport { d } from './d.ts';" },
      ...['b', 'c', 'd'].map((name) => ({ file: `cli/${name}.ts`, text: "import 'viem';" })),
    ];
    const { files, packages: named } = loadedBy('cli/main.ts', sources);
    expect([...files]).toEqual(['cli/main.ts', 'cli/a.ts', 'cli/d.ts']);
    expect([...named]).toEqual(['commander', 'viem']);
  });
});
