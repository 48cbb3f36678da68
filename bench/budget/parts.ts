/**
 * The parts of an event's processor time: what each may cost, and which sources belong to it. A change that moves code
 * moves its line here.
 */

/** Microseconds of processor time for one event; together the 100 of `cpu-per-event`. */
export const budget = {
  read: { microseconds: 16, what: "read the request and check its body: Node's HTTP, the frame, schemas" },
  decide: { microseconds: 8, what: 'gather, judge the claim by the rules' },
  wallet: { microseconds: 20, what: 'the address of a new user: a key is derived, a hash taken' },
  ledger: { microseconds: 22, what: 'statements on brands, claims, wallets and rewards, and their commit' },
  encode: { microseconds: 4, what: 'encode the batch, sign it and store it' },
  node: { microseconds: 3, what: 'requests to the node and their answers' },
  follow: { microseconds: 6, what: 'read blocks, book what they show, settle, count' },
  answer: { microseconds: 6, what: 'wait for the transaction, make the answer, send it' },
  traces: { microseconds: 3, what: 'keep what is needed to explain the request later' },
  garbage: { microseconds: 6, what: 'collections' },
  rest: { microseconds: 6, what: 'timers, microtasks, and what no line of this table names' },
} as const;

export type Part = keyof typeof budget;
export const partNames = Object.keys(budget) as Part[];

/** The longest path that a source begins with decides; packages are named as in `node_modules/`. */
export const partOfPath: Record<string, Part> = {
  'src/compose/listen.ts': 'read',
  'src/compose/answer-in-turn.ts': 'answer',
  'src/compose/hosts': 'read',
  'src/contract': 'read',
  'src/http': 'read',
  'src/http/control': 'traces',
  'src/http/events/answer-event.ts': 'answer',
  'src/http/frame/request-notes.ts': 'traces',
  'src/http/frame/request-record.ts': 'traces',
  'src/actions': 'decide',
  'src/actions/consumers': 'follow',
  'src/actions/engagement/keep-boards.ts': 'follow',
  'src/rules': 'decide',
  'src/lib/batch': 'decide',
  'src/identity': 'wallet',
  'src/ledger': 'ledger',
  'src/ledger/database': 'ledger',
  'src/ledger/consumers': 'follow',
  'src/ledger/engagement': 'follow',
  'src/ledger/request-traces.ts': 'traces',
  'src/ledger/transactions/followed-blocks.ts': 'follow',
  'src/ledger/transactions/settle.ts': 'follow',
  'src/ledger/rewards/settle-rewards.ts': 'follow',
  'src/ledger/transactions/lanes.ts': 'encode',
  'src/ledger/transactions/transactions.ts': 'encode',
  'src/chain/lane': 'encode',
  'src/chain/contracts': 'encode',
  'src/chain/work': 'encode',
  'src/chain/work/settlements.ts': 'follow',
  'src/chain/rpc': 'node',
  'src/chain/indexer': 'follow',
  'src/chain/waiting': 'answer',
  'src/webhooks': 'follow',
  'src/production/requests': 'traces',
  'src/outgoing': 'node',
  'node_modules/zod': 'read',
  'node_modules/hono': 'read',
  'node_modules/@hono/node-server': 'read',
  'node_modules/better-sqlite3': 'ledger',
  'node_modules/drizzle-orm': 'ledger',
  'node_modules/pg': 'ledger',
  'node_modules/secp256k1': 'wallet',
  'node_modules/@noble': 'wallet',
  'node_modules/viem': 'encode',
  'node:_http_server': 'read',
  'node:_http_incoming': 'read',
  'node:_http_common': 'read',
  'node:_http_outgoing': 'answer',
  'node:_http_client': 'node',
};
