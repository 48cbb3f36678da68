import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadedBy, type Source, violations } from './kits/architecture.ts';

const root = resolve(import.meta.dirname, '..');

const everySource = (): Source[] =>
  readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    .map((file) => ({ file, text: readFileSync(join(root, 'src', file), 'utf8') }));

test('the source keeps to its layers, its clocks and its sizes', () => {
  const sources = everySource();
  expect(sources.length).toBeGreaterThan(50);
  expect(violations(sources)).toEqual([]);
});

test('the command line loads little before it knows what to do', () => {
  const { files, packages: named } = loadedBy('cli/main.ts', everySource());
  expect(
    [...files].filter((file) => !/^(cli|lib)\/|^(compose\/env|client\/client-error)\.ts$/.test(file)),
  ).toEqual([]);
  expect([...files].filter((file) => file.startsWith('cli/commands/'))).toEqual([]);
  expect([...named].filter((name) => !['commander', 'picocolors', 'std-env'].includes(name))).toEqual([]);
});

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
      'chain/a.ts',
      "import '../dns/txt.ts';",
      'chain/a.ts:1 → dns/txt.ts: chain may not import dns',
    ],
    [
      'an adapter',
      'actions/a.ts',
      "import '../dns/system.ts';",
      'actions/a.ts:1 → dns/system.ts: an adapter is imported by compose/create-service.ts, compose/create-production.ts, compose/doctor.ts alone',
    ],
    [
      'an adapter beside its port',
      'ledger/a.ts',
      "import './sqlite.ts';",
      'ledger/a.ts:1 → ledger/sqlite.ts: an adapter is imported by compose/create-service.ts, compose/create-production.ts, compose/doctor.ts alone',
    ],
    [
      'a driver',
      'ledger/brands.ts',
      "import pg from 'pg';",
      'ledger/brands.ts:1 → pg: the package pg is not for this file',
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
      'cli/a.ts:1 → lodash: no layer may import the package lodash',
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
      'misc/a.ts:1 → lib/b.ts: the layer misc is not in the table',
    ],
    ['a way out', 'cli/a.ts', "import '../../test/x.ts';", 'cli/a.ts:1 → ../../test/x.ts: leaves src/'],
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
    ['a long file', 'lib/a.ts', '// \n'.repeat(301), 'lib/a.ts:301 → length: more than 300 lines'],
    ['a name in another case', 'lib/someFile.ts', '', 'lib/someFile.ts:1 → name: is not kebab-case'],
  ])('%s', (_, file, text, violation) => {
    expect(violations([{ file, text }])).toEqual([violation]);
  });

  test.each([
    ['words in texts and comments', "// process.env, Date.now()\nexport const text = 'setTimeout';"],
    ['fields of the same name', 'export const take = (deps: { setTimeout: number }) => deps.setTimeout;'],
    ['a date of a given time', 'export const day = (nowMs: number) => new Date(nowMs);'],
    [
      'imports downwards',
      "import { x } from '../lib/a.ts';\nimport type { Y } from './b.ts';\nexport const z = x as Y;",
    ],
  ])('nothing wrong with %s', (_, text) => {
    expect(violations([{ file: 'rules/a.ts', text }])).toEqual([]);
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
