/** The operator's pages on the admin listener: the console's own, on the ledger alone, read only and without anybody's e-mail. */

import { shownAlarms } from '../../actions/report-overview.ts';
import type { Alarm } from '../../chain/alarms.ts';
import type { ChainClient } from '../../chain/rpc/client.ts';
import type { NodeState } from '../../chain/rpc/rpc-pool.ts';
import { callThrough } from '../../console/call-through.ts';
import type { FailedPage } from '../../console/create-console.tsx';
import type { KnownWithoutDatabase } from '../../console/pages/database-away.tsx';
import type { OwnFacts, ProcessFacts } from '../../console/pages/operator.tsx';
import { type Database, isDatabaseBusy, isDatabaseUnavailable } from '../../ledger/database/database.ts';
import { gasSpent } from '../../ledger/transactions/gas-spent.ts';
import { createSharedAnswers } from '../../lib/batch/shared-answers.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Away } from '../../lib/failures/availability.ts';
import { coinsOfWei } from '../../lib/gas-money.ts';
import type { Hex } from '../../lib/hex.ts';
import { within } from '../../lib/timers.ts';
import { controlRoutes } from '../offline/control-routes.ts';
import { covered } from './covered.ts';
import { type Answer, type LastAnswers, lastAnswers } from './last-answers.ts';
import { replicasKnown } from './replicas-known.ts';

/** However many look at once, the ledger is asked this often. */
const KEPT_MS = 1_000;
/** Different questions in a second: a few pages, each with its filters. */
const KEPT_MAX = 100;

/** A database that takes longer than this counts as away: a network that drops everything says nothing at all. */
const ANSWER_WITHIN_MS = 10_000;
/** It is known to be away already. */
const AWAY_ANSWER_WITHIN_MS = 2_000;

export interface OperatorDeps {
  database: Database;
  chain: Pick<ChainClient, 'balanceWei'>;
  clock: Pick<Clock, 'now'>;
  alarms: () => Alarm[];
  /** The accounts that this process sends from, by their names. */
  accounts: Readonly<Record<string, Hex>>;
  process: Omit<OwnFacts, 'compared'>;
  compared: () => OwnFacts['compared'];
  /** Which process sends what, as of the last look. */
  lanes: () => Readonly<Record<string, string>>;
  /** How its leases name this process, and how long they are. */
  lease: { own: string; leaseMs: number };
  databaseAway: () => Away | undefined;
  nodeStates: () => NodeState[];
}

/** The database has not answered in time. */
class NoAnswer extends Error {}

/** Answers everything below `/_rewards`; loaded with its first visitor. */
export function operatorPages(deps: OperatorDeps): (request: Request) => Promise<Response> {
  const load = async () => {
    const [{ createConsole }, { operatorOverview }, { databaseAway }, pages] = await Promise.all([
      import('../../console/create-console.tsx'),
      import('../../console/pages/operator.tsx'),
      import('../../console/pages/database-away.tsx'),
      import('../../console/pages.ts'),
    ]);
    const last = lastAnswers(deps.clock);
    return createConsole({
      pages: [operatorOverview(() => processFacts(deps)), ...pages.operatorPages],
      call: readingCall(deps, last),
      nowMs: async () => deps.clock.now(),
      readOnly: true,
      // The page asks again by itself; nothing tells of each request here.
      live: { answer: () => new Response(null, { status: 204 }) },
      instead: async (failed) =>
        isAway(failed.error)
          ? databaseAway(await knownWithoutDatabase(deps, failed, last), deps.clock.now())
          : undefined,
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

const isAway = (error: unknown) =>
  error instanceof NoAnswer || isDatabaseUnavailable(error) || isDatabaseBusy(error);

/** What `asked` resolves with. Rejects with NoAnswer when the database takes too long for a page. */
async function inTime<T>({ databaseAway }: Pick<OperatorDeps, 'databaseAway'>, asked: Promise<T>) {
  const answer = await within(databaseAway() ? AWAY_ANSWER_WITHIN_MS : ANSWER_WITHIN_MS, wrapped(asked));
  if (!answer) throw new NoAnswer('the database has not answered in time');
  return answer.value;
}

const wrapped = async <T>(asked: Promise<T>) => ({ value: await asked });

/** Reads the ledger through the routes that answer for it without a service; nothing else passes. */
function readingCall(deps: OperatorDeps, last: LastAnswers) {
  const { database, clock, alarms } = deps;
  const ledger = {
    database,
    where: 'the ledger',
    asked: <T>(work: () => Promise<T>) => work(),
    close: async () => {},
  };
  const open = () =>
    controlRoutes(ledger, {
      reach: { networks: [], ports: [] },
      ownDomain: '',
      userHash: async () => undefined,
      alarms,
    });
  let routes: Awaited<ReturnType<typeof open>> | undefined;
  const ask = async (request: Request): Promise<Answer> => {
    // The first visitor may come while the database is away: a ledger that was not looked at is looked at again.
    routes ??= await open();
    const answer = await routes(request);
    return { text: covered(await answer.text()), status: answer.status };
  };
  const shared = createSharedAnswers<Answer>({
    keptMs: KEPT_MS,
    keysMax: KEPT_MAX,
    now: () => clock.now(),
  });
  const fetch = async (request: Request) => {
    if (request.method !== 'GET') return new Response(null, { status: 405 });
    const answer = await shared(request.url, () => inTime(deps, ask(request)));
    last.keep(request.url, answer);
    return responseOf(answer);
  };
  return callThrough(fetch);
}

const responseOf = ({ text, status }: Answer) =>
  new Response(text, { status, headers: { 'content-type': 'application/json' } });

async function processFacts(deps: OperatorDeps): Promise<ProcessFacts> {
  const { database, lease } = deps;
  const [gas, replicas] = await inTime(
    deps,
    Promise.all([
      gasMoney(deps, (address) => gasSpent(database.db, address)),
      replicasKnown(database, lease),
    ]),
  );
  return { ...deps.process, compared: deps.compared(), gas, replicas };
}

/** What the accounts have; null where no node answers. `spentBy` has null where the ledger is away. */
async function gasMoney(
  { accounts, chain, clock }: OperatorDeps,
  spentBy: (address: Hex) => Promise<Awaited<ReturnType<typeof gasSpent>> | null>,
): Promise<ProcessFacts['gas']> {
  const all = Object.entries(accounts);
  const [balances, spendings] = await Promise.all([
    Promise.all(all.map(([, address]) => chain.balanceWei(address))).catch(() => null),
    Promise.all(all.map(([, address]) => spentBy(address))),
  ]);
  if (balances === null) return null;
  return all.map(([account, address], place) => {
    const wei = balances[place] ?? 0n;
    const spent = spendings[place] ?? null;
    const lastsMs = spent && lastsFor(wei, spent, clock.now());
    return { account, address, has: coinsOfWei(String(wei)), lastsMs, transactions: spent?.count ?? 0 };
  });
}

function lastsFor(
  balanceWei: bigint,
  { wei, sinceMs }: Awaited<ReturnType<typeof gasSpent>>,
  nowMs: number,
): number | undefined {
  const overMs = sinceMs === undefined ? 0 : Math.max(1, nowMs - sinceMs);
  return wei === 0n ? undefined : Number((balanceWei * BigInt(Math.floor(overMs))) / wei);
}

/** Codes say enough: the words of Postgres name its users and addresses. */
const CODE = /^[A-Z0-9_]{4,}(?=:|$)/;

async function knownWithoutDatabase(
  deps: OperatorDeps,
  { error, page, visit }: FailedPage,
  last: LastAnswers,
): Promise<KnownWithoutDatabase> {
  const away = deps.databaseAway();
  const gas = within(
    AWAY_ANSWER_WITHIN_MS,
    gasMoney(deps, async () => null),
  );
  return {
    database: away || isDatabaseUnavailable(error) ? 'unreachable' : 'reached',
    sinceMs: away && deps.clock.now() - away.forMs,
    code: away && CODE.exec(away.why)?.[0],
    process: { ...deps.process, compared: deps.compared() },
    alarms: shownAlarms(deps.alarms()),
    lanes: deps.lanes(),
    nodes: deps.nodeStates(),
    gas: (await gas) ?? null,
    seen: await last.pageOf(page, visit),
  };
}
