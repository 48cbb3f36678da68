/** What is changed on trial, and the tests that judge it: the nearest front doors of each area. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface Area {
  name: string;
  /** The folder of its source. */
  folder: string;
  /** Files of it that hold no decisions: tables, generated code. */
  without: readonly string[];
  /** Test files, as globs. They run in one process with what they try. */
  tests: readonly string[];
  /** Folders or files of tests that need nothing but this process and its databases. */
  near: readonly string[];
}

/** Of those folders, what starts a node, a service or a process, replaces the timers, or reads the source. */
const notNear = [
  'test/engine/escrow-trouble.test.ts',
  'test/engine/mints.test.ts',
  'test/engine/node-fee-cap.test.ts',
  'test/ledger/answer-waiting.test.ts',
  'test/ledger/migrate.test.ts',
  'test/ledger/schema.test.ts',
  'test/ledger/sqlite-durability.test.ts',
];

export const areas: readonly Area[] = [
  {
    name: 'rules',
    folder: 'src/rules',
    without: [],
    tests: [
      'test/rules/*.test.ts',
      'test/emulator/fixture*.test.ts',
      'test/contract/{events,control,register,relay}/*.test.ts',
      'test/cli/explain.test.ts',
    ],
    near: ['test/rules'],
  },
  {
    name: 'identity',
    folder: 'src/identity',
    without: [],
    tests: [
      'test/identity/*.test.ts',
      'test/contract/{register,relay}/*.test.ts',
      'test/contract/events/expired-key.test.ts',
    ],
    near: ['test/identity'],
  },
  {
    name: 'ledger',
    folder: 'src/ledger',
    without: ['src/ledger/schema'],
    tests: [
      'test/ledger/*.test.ts',
      'test/engine/*.test.ts',
      'test/contract/{events,register,relay}/*.test.ts',
      'test/audit/*.test.ts',
    ],
    near: ['test/ledger', 'test/engine', 'test/actions', 'test/webhooks/deliver.test.ts'],
  },
  {
    name: 'actions',
    folder: 'src/actions',
    without: [],
    tests: [
      'test/actions/*.test.ts',
      'test/contract/**/*.test.ts',
      'test/ledger/*.test.ts',
      'test/audit/*.test.ts',
      'test/cli/explain.test.ts',
    ],
    near: ['test/actions', 'test/ledger/answer-once.test.ts', 'test/ledger/same-id.test.ts'],
  },
  {
    name: 'chain',
    folder: 'src/chain',
    without: ['src/chain/contracts/abis.ts', 'src/chain/contracts/artifacts.ts'],
    tests: [
      'test/engine/*.test.ts',
      'test/contract/relay/*.test.ts',
      'test/contract/events/first-reward.test.ts',
      'test/production/{rpc-pool,running}.test.ts',
      'test/solidity/payout-batch.test.ts',
      'test/audit/*.test.ts',
    ],
    near: [
      'test/engine',
      'test/production/rpc-pool.test.ts',
      'test/solidity/payout-batch.test.ts',
      'test/ledger/chain-work.test.ts',
      'test/actions/prepare-relay.test.ts',
      'test/actions/relay-transaction.test.ts',
    ],
  },
  {
    name: 'payments',
    folder: 'src/payments',
    without: [],
    tests: ['test/payments/stripe.test.ts', 'test/contract/{checkout,payments}/*.test.ts'],
    near: ['test/payments/stripe.test.ts'],
  },
  {
    name: 'webhooks',
    folder: 'src/webhooks',
    without: [],
    tests: ['test/webhooks/*.test.ts'],
    near: [
      'test/webhooks/deliver.test.ts',
      'test/webhooks/hostile-receivers.test.ts',
      'test/webhooks/post.test.ts',
      'test/webhooks/share-slots.test.ts',
      'test/webhooks/sign.test.ts',
    ],
  },
  {
    name: 'outgoing',
    folder: 'src/outgoing',
    without: [],
    tests: ['test/outgoing/*.test.ts', 'test/webhooks/{post,ssrf,hostile-receivers}.test.ts'],
    near: ['test/outgoing', 'test/webhooks/post.test.ts', 'test/webhooks/ssrf.test.ts'],
  },
];

/** The area with this name. Throws with the names that there are. */
export function areaNamed(name: string): Area {
  const area = areas.find((one) => one.name === name);
  if (area) return area;
  throw new Error(`the areas are ${areas.map((one) => one.name).join(', ')}; there is no "${name}"`);
}

/** Its near tests, each a file. */
export function nearTests({ near }: Area): string[] {
  return near
    .flatMap((place) =>
      place.endsWith('.test.ts') ? [place] : readdirSync(place).map((name) => join(place, name)),
    )
    .filter((file) => file.endsWith('.test.ts') && !notNear.includes(file));
}

/** Its source files, from the root of the project, in order. */
export function sourceFiles({ folder, without }: Area): string[] {
  return (readdirSync(folder, { recursive: true }) as string[])
    .map((name) => join(folder, name))
    .filter((file) => file.endsWith('.ts') && !without.some((part) => file.startsWith(part)))
    .sort();
}
