/** The operator's pages on the admin listener: the console's own, on the ledger alone, read only and without anybody's e-mail. */

import type { Alarm } from '../chain/alarms.ts';
import type { ChainClient } from '../chain/rpc/client.ts';
import { callThrough } from '../console/call-through.ts';
import type { GasMoney, ProcessFacts } from '../console/pages/operator.tsx';
import type { Database } from '../ledger/database/database.ts';
import { gasSpent } from '../ledger/transactions/gas-spent.ts';
import { createSharedAnswers } from '../lib/batch/shared-answers.ts';
import type { Clock } from '../lib/clock.ts';
import { coinsOfWei } from '../lib/gas-money.ts';
import type { Hex } from '../lib/hex.ts';
import { controlRoutes } from './offline/control-routes.ts';

/** However many look at once, the ledger is asked this often. */
const KEPT_MS = 1_000;
/** Different questions in a second: a few pages, each with its filters. */
const KEPT_MAX = 100;

export interface OperatorDeps {
  database: Database;
  chain: Pick<ChainClient, 'balanceWei'>;
  clock: Pick<Clock, 'now'>;
  alarms: () => Alarm[];
  /** The accounts that this process sends from, by their names. */
  accounts: Readonly<Record<string, Hex>>;
  process: Omit<ProcessFacts, 'gas' | 'compared'>;
  compared: () => ProcessFacts['compared'];
}

/** Names of mailboxes; what stands behind the @ says whose users they are. */
const MAILBOX = /[^\s"'<>@:,()]+@(?=[\w-])/g;

export const withoutMailboxes = (text: string): string => text.replaceAll(MAILBOX, '•••@');

/** Answers everything below `/_rewards`; loaded with its first visitor. */
export function operatorPages(deps: OperatorDeps): (request: Request) => Promise<Response> {
  const load = async () => {
    const [{ createConsole }, { operatorOverview }, pages] = await Promise.all([
      import('../console/create-console.tsx'),
      import('../console/pages/operator.tsx'),
      import('../console/pages.ts'),
    ]);
    return createConsole({
      pages: [operatorOverview(() => processFacts(deps)), ...pages.operatorPages],
      call: await readingCall(deps),
      nowMs: async () => deps.clock.now(),
      readOnly: true,
      // The page asks again by itself; nothing tells of each request here.
      live: { answer: () => new Response(null, { status: 204 }) },
    });
  };
  let loading: ReturnType<typeof load> | undefined;
  return async (request) => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return (await loading).fetch(request);
  };
}

/** Reads the ledger through the routes that answer for it without a service; nothing else passes. */
async function readingCall({ database, clock, alarms }: OperatorDeps) {
  const ledger = {
    database,
    where: 'the ledger',
    asked: <T>(work: () => Promise<T>) => work(),
    close: async () => {},
  };
  const routes = await controlRoutes(ledger, {
    reach: { networks: [], ports: [] },
    ownDomain: '',
    userHash: async () => undefined,
    alarms,
  });
  const shared = createSharedAnswers<{ text: string; status: number }>({
    keptMs: KEPT_MS,
    keysMax: KEPT_MAX,
    now: () => clock.now(),
  });
  const fetch = async (request: Request) => {
    if (request.method !== 'GET') return new Response(null, { status: 405 });
    const { text, status } = await shared(request.url, async () => {
      const answer = await routes(request);
      return { text: withoutMailboxes(await answer.text()), status: answer.status };
    });
    return new Response(text, { status, headers: { 'content-type': 'application/json' } });
  };
  return callThrough(fetch);
}

async function processFacts(deps: OperatorDeps): Promise<ProcessFacts> {
  const gas = await Promise.all(
    Object.entries(deps.accounts).map(([account, address]) => gasMoney(deps, { account, address })),
  ).catch(() => null);
  return { ...deps.process, compared: deps.compared(), gas };
}

async function gasMoney(
  { database, chain, clock }: OperatorDeps,
  { account, address }: { account: string; address: Hex },
): Promise<GasMoney> {
  const [balanceWei, spent] = await Promise.all([chain.balanceWei(address), gasSpent(database.db, address)]);
  const overMs = spent.sinceMs === undefined ? 0 : Math.max(1, clock.now() - spent.sinceMs);
  const lastsMs =
    spent.wei === 0n ? undefined : Number((balanceWei * BigInt(Math.floor(overMs))) / spent.wei);
  return { account, address, has: coinsOfWei(String(balanceWei)), lastsMs, transactions: spent.count };
}
