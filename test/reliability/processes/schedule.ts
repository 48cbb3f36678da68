/** One schedule: a service under load on a node that misbehaves, killed at named points and started again. */

import type { CrashPoint } from '../../../src/lib/crash-points.ts';
import type { Ready } from '../../../src/stack/ready.ts';
import type { RpcFault } from '../../kits/chain/rpc-proxy.ts';
import { seededChance } from '../../kits/run/seeded-chance.ts';
import { type Customers, startCustomers } from './customers.ts';
import { type Life, startLife } from './program.ts';
import { openStage, type Stage } from './stage.ts';

export interface Kill {
  point: CrashPoint;
  /** At which hit. */
  nth: number;
}

export interface Schedule {
  seed: number;
  /** One life of the process each; the life after the last is not killed. */
  kills: Kill[];
  blockTimeSeconds: number;
  /** Every call of the node has this chance of each fault. */
  faults: { fault: RpcFault; probability: number }[];
  databaseUrl?: string | undefined;
}

export interface Outcome {
  violations: string[];
  /** Kills whose point was reached. */
  hit: Kill[];
  missed: Kill[];
  users: number;
  paid: number;
  lostAnswers: number;
  /** What was done of each lane, and webhooks that arrived. */
  lanes: Record<string, number>;
  /** From the start of a process to its ready line, without the first, which deploys the contracts. */
  readyMs: number[];
  /** From the start of a process that found unsent rewards to the first that it sent. */
  firstPaymentMs: number[];
  stderr: string;
}

/** How long a life may go without reaching its point before that counts as missed. */
const LIFE_MS = 6_000;
/** How long the last life is asked for new things. */
const LAST_LIFE_MS = 3_000;
/** Bumps take patience. */
const BUMP_LIFE_MS = 25_000;
const GWEI = 10n ** 9n;
/** The service offers 100 gwei at most. */
const BASE_FEE_MAX = 90n * GWEI;
const CLIENTS = 6;
/** Users who are told nothing clear ask again in the last life. */
const USERS_PER_LIFE = 60;

export async function runSchedule(schedule: Schedule): Promise<Outcome> {
  const stage = await openStage(schedule);
  const customers = await startCustomers(stage);
  const chance = seededChance(schedule.seed);
  const outcome: Outcome = {
    violations: [],
    hit: [],
    missed: [],
    users: 0,
    paid: 0,
    lostAnswers: 0,
    lanes: {},
    readyMs: [],
    firstPaymentMs: [],
    stderr: '',
  };
  let life: Life | undefined;
  const users: string[] = [];
  try {
    const args = [
      ...stage.serveArgs,
      ...(schedule.databaseUrl ? ['--database-url', schedule.databaseUrl] : []),
    ];
    for (const kill of [...schedule.kills, undefined]) {
      const isFirst = life === undefined;
      const unsent = life ? await countUnsent(stage) : 0;
      life = startLife(args, {
        cwd: stage.folder,
        env: kill ? { REWARDS_CRASH_AT: `${kill.point}:${kill.nth}` } : {},
      });
      const watching = watchRecovery(stage, life, unsent).then((ms) => ms && outcome.firstPaymentMs.push(ms));
      const ready = await life.ready;
      const readyAtMs = life.readyAtMs();
      if (readyAtMs !== undefined && !isFirst) outcome.readyMs.push(readyAtMs - life.startedAtMs);
      if (kill) {
        if (ready) {
          for (const rule of schedule.faults) stage.proxy.add(rule);
          await live(stage, { life, ready, kill, users, chance, customers });
          stage.proxy.heal();
        }
        const end = life.isOver() ? await life.ended : await life.stop('SIGKILL');
        const byItself = life.child.killed === false && end.signal === 'SIGKILL';
        (byItself ? outcome.hit : outcome.missed).push(kill);
        if (end.signal !== 'SIGKILL')
          outcome.violations.push(`ended by itself with ${end.code}: ${life.stderr()}`);
        await watching;
        continue;
      }
      if (!ready) {
        outcome.violations.push(`did not start again: ${life.stderr()}`);
        break;
      }
      // The same again, in a life that is not killed: whatever the others left behind is in the way of nothing new.
      await Promise.all([askAgain(stage, { ready, users }), customers.ask(ready, lasting(LAST_LIFE_MS))]);
      const { violations, paid } = await stage.verdict(ready);
      outcome.violations.push(...violations);
      outcome.paid = paid;
      outcome.violations.push(...(await unrewarded(stage, users)));
      outcome.violations.push(...(await customers.verdict(ready)));
      outcome.lanes = customers.counts();
      await watching;
      const end = await life.stop('SIGTERM');
      if (end.code !== 0) outcome.violations.push(`SIGTERM ended it with ${end.code ?? end.signal}`);
    }
    outcome.users = users.length;
    outcome.lostAnswers = stage.proxy.counts.get('fault lost-answer') ?? 0;
    if (outcome.violations.length > 0) outcome.stderr = life?.stderr() ?? '';
    return outcome;
  } finally {
    if (life && !life.isOver()) await life.stop('SIGKILL');
    await customers.stop();
    await stage.close();
  }
}

/** True for so long. */
function lasting(ms: number): () => boolean {
  const endsAt = Date.now() + ms;
  return () => Date.now() < endsAt;
}

/** Clients send events, and the chain is stirred towards the point, until the process is dead or the time is up. */
async function live(
  stage: Stage,
  run: {
    life: Life;
    ready: Ready;
    kill: Kill;
    users: string[];
    chance: ReturnType<typeof seededChance>;
    customers: Customers;
  },
): Promise<void> {
  const { life, ready, kill, users, chance, customers } = run;
  const giveUpAt = Date.now() + (kill.point.startsWith('lane.bump') ? BUMP_LIFE_MS : LIFE_MS);
  const going = () => !life.isOver() && Date.now() < giveUpAt;
  let left = USERS_PER_LIFE;
  const stirring = stir(stage, kill, going);
  const asking = customers.ask(ready, going);
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (going() && left-- > 0) {
        const user = `u${users.length}-${chance.below(1e9)}@people.example`;
        users.push(user);
        await stage.call(ready.urls.events, user);
        await pause(chance.below(40));
      }
    }),
  );
  while (going()) await pause(50);
  await Promise.all([stirring, asking]);
}

/** Some points are reached only when something happens to the chain. */
async function stir(stage: Stage, { point }: Kill, going: () => boolean): Promise<void> {
  const { rpc, node, proxy } = stage;
  if (point === 'recover.resent') {
    proxy.add({ fault: 'lost-request', method: /^eth_sendRawTransaction$/, probability: 0.7 });
  }
  if (point === 'follow.reopened') {
    while (going()) {
      await pause(700);
      // So that it never takes the brand's opening deposit back: nobody would make it again.
      await rpc('evm_mine').catch(() => undefined);
      await rpc('anvil_reorg', 2, []).catch(() => undefined);
    }
  }
  if (point.startsWith('lane.bump')) {
    await rpc('evm_setAutomine', false);
    await rpc('evm_setIntervalMining', 0);
    // What is offered before gas becomes dearer is too little after it.
    for (let tooCheap = 0; going() && tooCheap === 0; tooCheap = await countPending(stage)) {
      while (going() && (await countPending(stage)) === 0) await pause(20);
      const { baseFeePerGas } = await node.getBlock();
      // Above twice the base fee and the tip, which is what is offered.
      const wanted = (baseFeePerGas ?? 0n) * 3n + 10n * GWEI;
      // Over the cap nothing is offered at all, and the chain would not come down from there by itself.
      const dearer = wanted < BASE_FEE_MAX ? wanted : BASE_FEE_MAX;
      await rpc('anvil_setNextBlockBaseFeePerGas', `0x${dearer.toString(16)}`);
      await rpc('evm_mine');
    }
    while (going()) await pause(50);
    await rpc('anvil_setNextBlockBaseFeePerGas', `0x${GWEI.toString(16)}`);
    await rpc('evm_setAutomine', true);
    // Mining by the clock does not always come back by itself once it was switched off.
    await rpc('evm_mine');
  }
}

const countPending = async ({ rpc }: Stage): Promise<number> => {
  const { pending, queued } = (await rpc('txpool_status')) as { pending: string; queued: string };
  return Number(pending) + Number(queued);
};

/** Rewards that no node has been handed yet. */
async function countUnsent(stage: Stage): Promise<number> {
  const sent = new Set(stage.proxy.sent.map(({ hash }) => hash as string));
  const attempts = await stage.ledger().attempts();
  const handedOver = new Set(attempts.filter(({ hash }) => sent.has(hash)).map((one) => one.transactionId));
  const rewards = await stage.ledger().rewards();
  return rewards.filter(
    ({ transactionId, failure }) => failure === null && !handedOver.has(transactionId ?? ''),
  ).length;
}

/** Milliseconds from the start of the process to its first send, when there was something to recover. */
async function watchRecovery(stage: Stage, life: Life, unsent: number): Promise<number | undefined> {
  if (unsent === 0) return undefined;
  const before = stage.proxy.sent.length;
  while (!life.isOver() && Date.now() - life.startedAtMs < 20_000) {
    const first = stage.proxy.sent[before];
    if (first) return first.atMs - life.startedAtMs;
    await pause(5);
  }
  return undefined;
}

/** Users without a reward, with what they were told: everybody is entitled to one. */
async function unrewarded(stage: Stage, users: string[]): Promise<string[]> {
  const rewards = await stage.ledger().rewards();
  const rewarded = new Set(rewards.filter(({ failure }) => failure === null).map(({ userKey }) => userKey));
  return users
    .filter((user) => !rewarded.has(user))
    .map((user) => {
      const told = stage.calls
        .filter((call) => call.user === user)
        .map(({ kind, status }) => `${kind} ${status}`);
      const failed = rewards.find(({ userKey }) => userKey === user)?.failure;
      return `${user} has no reward (${failed ?? 'none was granted'}) and was told ${told.join(', ')}`;
    });
}

/** A customer without a clear answer asks again, until it is clear. */
async function askAgain(stage: Stage, { ready, users }: { ready: Ready; users: string[] }): Promise<void> {
  for (let tries = 0; tries < 20; tries++) {
    const answered = new Set(stage.calls.filter(({ kind }) => kind !== 'info').map(({ user }) => user));
    const open = users.filter((user) => !answered.has(user));
    if (open.length === 0) return;
    await Promise.all(open.map((user) => stage.call(ready.urls.events, user)));
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
