/** Runs one seed: a schedule of callers, processes, blocks and faults, then calm, then the verdict. */

import { post } from './callers/event-callers.ts';
import { askMint } from './callers/mint-callers.ts';
import { askRedemption } from './callers/redemption-callers.ts';
import { askRelay } from './callers/relay-callers.ts';
import { checkWebhooks } from './checks/check-webhooks.ts';
import { checkRun } from './checks/checks.ts';
import { lookAgain } from './checks/look-again.ts';
import type { Finding } from './findings.ts';
import { createLoss } from './losing.ts';
import { GAS_WALLETS, MINT_LANE, PAYOUT_LANE, PERK, REDEEM_LANE, USERS } from './model/accounts.ts';
import { type ModelBlock, nonceOf, slotOf } from './model/model-chain.ts';
import {
  consumingCrashPoints,
  redeemingCrashPoints,
  simCrashPoints,
  tellingCrashPoints,
  type WorldFault,
} from './plan.ts';
import { GIVE_UP_AFTER_MS } from './redeeming.ts';
import { createReplica, LEASE_MS, REPLACEMENT, type Replica } from './replica.ts';
import { BRANDS } from './sim-ledger.ts';
import { createWorld, type Gate, type World, type WorldOptions } from './world.ts';

const GWEI = 10n ** 9n;
/** Rounds without faults in which everything has to come to an end. */
const CALM_ROUNDS = 60;

/** Calls of payment-mint for each session. */
const CALLERS_OF_A_MINT = 3;

/** How far a machine's clock is set forwards or back. */
const JUMPS_MS = [1_500, 20_000, 90_000, 3_600_000];

const noncesOf = ({ state }: ModelBlock) =>
  `nonces ${[...state.nonces].map(([account, nonce]) => `${account.slice(-4)} ${nonce}`).join(', ')}`;

/** Lets everything run that can run until it waits for the scheduler. */
const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));

export async function simulate(options: WorldOptions): Promise<Finding[]> {
  await options.ledger.reset();
  const world = createWorld(options);
  await begin(world);
  const loss = createLoss(world);
  for (let step = 0; step < world.plan.steps && world.findings.list.length === 0; step += 1) {
    await loss.before(step);
    await act(world);
    await settle();
    await loss.after(step);
  }
  const ended = await calmDown(world);
  await checkRun(world, ended);
  if (ended) await lookAgain(world, drain);
  if (ended) await checkWebhooks(world, drain);
  for (const replica of world.replicas) replica.die();
  return world.findings.list;
}

async function begin(world: World): Promise<void> {
  const { chance, chain, plan } = world;
  world.calm = true;
  for (const brandId of BRANDS.slice(0, plan.brands))
    chain.offerMove({ kind: 'deposit', brandId, amount: chance.one([30, 150, 1_000]) });
  chain.mine();
  for (let place = 0; place < plan.replicas; place += 1)
    world.replicas.push(createReplica(world, `r${place}`, place));
  for (let n = 1; n < plan.confirmations; n += 1) chain.mine();
  world.replicas[0]?.follow();
  await drain(world);
  world.calm = false;
}

const runnable = (world: World) => world.gates.filter(({ replica }) => !replica.paused);

function open(world: World, gate: Gate): void {
  world.gates.splice(world.gates.indexOf(gate), 1);
  world.note(`${gate.replica.name} ${gate.label}`);
  gate.open();
}

/** Opens every gate, first come first served, until nobody waits at one. */
async function drain(world: World): Promise<void> {
  await settle();
  for (let opened = 0; opened < 3_000; opened += 1) {
    const gate = world.gates[0];
    if (!gate) {
      await settle();
      if (world.gates.length === 0) return;
      continue;
    }
    open(world, gate);
    await settle();
  }
  world.findings.add('everything comes to an end', 'calls go on for ever');
}

/** Opens the gates of one process until it waits at none. */
async function hurry(world: World, replica: Replica): Promise<void> {
  for (let opened = 0; opened < 60; opened += 1) {
    const gate = world.gates.find((one) => one.replica === replica);
    if (!gate || replica.paused) return;
    open(world, gate);
    await settle();
  }
}

async function begun(world: World, replica: Replica, turn: () => void): Promise<void> {
  turn();
  await settle();
  if (world.chance.hit(world.plan.brisk)) await hurry(world, replica);
}

/** Does one thing. */
async function act(world: World): Promise<void> {
  const { chance, chain, plan, replicas } = world;
  const { weights } = plan;
  const isRead = chain.head.number - (world.readPayouts ?? Number.NEGATIVE_INFINITY) < plan.finalityBlocks;
  const gates = runnable(world);
  const late = gates.find(({ label }) => label === REPLACEMENT);
  const up = replicas.filter(({ alive, paused }) => alive && !paused);
  const unknown = [...world.requests, ...world.relayRequests, ...world.redemptionRequests].filter(
    ({ status }) => status === 'unknown',
  ).length;
  const things: [number, () => unknown][] = [
    [gates.length > 0 ? weights.gate : 0, () => open(world, chance.one(gates))],
    [gates.length > 0 ? weights.hurry : 0, () => hurry(world, chance.one(gates).replica)],
    [
      up.length > 0 && world.requests.length < plan.events ? weights.submit : 0,
      () => void post(world, chance.one(up)),
    ],
    [up.length > 0 && unknown > 0 ? 0.5 : 0, () => askAgain(world, chance.one(up), 'unknown')],
    [
      up.length > 0 && world.relayRequests.length < plan.relays ? weights.submit : 0,
      () => askRelay(world, chance.one(up)),
    ],
    [
      up.length > 0 && world.mintRequests.length < plan.mints * CALLERS_OF_A_MINT ? weights.submit : 0,
      () => askMint(world, chance.one(up)),
    ],
    [
      up.length > 0 && world.redemptionRequests.length < plan.perks.redemptions ? weights.submit : 0,
      () => askRedemption(world, chance.one(up)),
    ],
    [up.length > 0 && world.told < plan.webhooks ? weights.submit : 0, () => tell(world, chance.one(up))],
    [plan.perks.others ? 0.3 : 0, () => pastTheService(world)],
    [up.length > 0 && world.topUps < plan.topUps ? 0.3 : 0, () => chance.one(up).askTopUp()],
    [late ? 4 : 0, () => overtake(world, late)],
    [weights.mine, () => mine(world)],
    [weights.tick, () => tick(world)],
    [weights.fault, () => strike(world)],
    // A withdrawal does most harm to payouts that are on their way …
    [chain.pool.size > 0 && plan.rates.has('withdrawal') ? 1.5 : 0, () => strike(world, 'withdrawal')],
    // … and a reorganisation while what it takes back was only just believed.
    [
      isRead && plan.rates.has('reorganisation')
        ? chain.blockAt(world.readPayouts ?? 0)?.skips.length
          ? 20
          : 3
        : 0,
      () => strike(world, 'reorganisation'),
    ],
    [
      weights.deposit,
      () => world.chain.offerMove({ kind: 'deposit', brandId: chance.one(BRANDS), amount: 50 }),
    ],
  ];
  for (const replica of replicas) {
    if (!replica.alive) things.push([1, () => restart(world, replica)]);
    else if (replica.paused) things.push([0.4, () => resume(world, replica)]);
    else {
      if (!replica.turning && plan.events > 0)
        things.push([weights.turn, () => begun(world, replica, replica.turn)]);
      if (!replica.relaying && plan.relays > 0)
        things.push([weights.turn, () => begun(world, replica, replica.relay)]);
      if (!replica.minting && plan.mints > 0)
        things.push([weights.turn, () => begun(world, replica, replica.mint)]);
      if (!replica.redeeming && plan.perks.redemptions > 0)
        things.push([weights.turn, () => begun(world, replica, replica.redeem)]);
      if (!replica.following) things.push([weights.follow, () => begun(world, replica, replica.follow)]);
    }
  }
  let left = chance.next() * things.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, thing] of things) {
    left -= weight;
    if (left >= 0) continue;
    await thing();
    return;
  }
}

function askAgain(world: World, replica: Replica, status: 'unknown' | 'open'): void {
  const isAsked = (one: { status: string; key: string | undefined }) =>
    one.status === status && one.key !== undefined;
  const candidates = [
    ...world.requests.filter(isAsked).map((one) => () => void post(world, replica, one)),
    ...world.relayRequests.filter(isAsked).map((one) => () => askRelay(world, replica, one)),
    ...(status === 'unknown' ? world.redemptionRequests.filter((one) => one.status === status) : []).map(
      (one) => () => askRedemption(world, replica, one),
    ),
  ];
  if (candidates.length > 0) world.chance.one(candidates)();
}

/** A perk is bought from the contract, or a user's RWT sent elsewhere. */
function pastTheService({ chance, chain }: World): void {
  const [wallet, kind] = [chance.one(USERS), chance.one(['sale', 'transfer'] as const)];
  chain.offerMove({ kind, wallet, amount: kind === 'sale' ? 1 : PERK.cost });
}

function mine(world: World): void {
  const { chance, chain } = world;
  // Empty blocks tell nobody anything new: most are left out.
  if (chain.pool.size + chain.moves.length === 0 && chance.hit(0.6)) return;
  chain.mine({ takes: chance.one([0, 1, 2, 16]), reverts: () => world.strikes('revert') });
  world.note(`block ${chain.head.number}: ${chain.head.entries.length} entries, ${noncesOf(chain.head)}`);
}

/** A block takes what is about to be replaced, and is read before the replacement is stored. */
async function overtake(world: World, late: Gate | undefined): Promise<void> {
  const { chain, plan, replicas } = world;
  const reader = replicas.findLast(({ alive, paused, following }) => alive && !paused && !following);
  if (!reader) return;
  for (let n = 0; n < plan.confirmations; n += 1) chain.mine();
  world.note(`block ${chain.head.number} overtakes a replacement`);
  reader.follow();
  await settle();
  for (let opened = 0; opened < 60 && reader.following; opened += 1) {
    const gate = world.gates.find((one) => one.replica === reader && one !== late);
    if (!gate) return;
    open(world, gate);
    await settle();
  }
}

function tell(world: World, replica: Replica): void {
  world.told += 1;
  replica.tell(world.told);
}

/** Pauses between attempts at a webhook are long. */
const LONG_TICKS_MS = [300_000, 1_800_000, 7_200_000];

function tick(world: World): void {
  const ticks = [10, 300, 1_000, 2_500, 4_000, 9_000, 61_000, 100_000];
  const ms = world.chance.one(world.plan.webhooks > 0 ? [...ticks, ...LONG_TICKS_MS] : ticks);
  world.note(`${ms} ms pass`);
  world.time.advance(ms);
}

function restart(world: World, dead: Replica): void {
  const place = world.replicas.indexOf(dead);
  const [name = '', generation = '0'] = dead.name.split('.');
  const fresh = createReplica(world, `${name}.${Number(generation) + 1}`, place);
  world.note(`${fresh.name} starts`);
  world.replicas[place] = fresh;
  for (const request of [
    ...world.requests,
    ...world.relayRequests,
    ...world.mintRequests,
    ...world.redemptionRequests,
  ])
    if (request.replica === dead && request.status === 'open') request.status = 'unknown';
}

function resume(world: World, replica: Replica): void {
  world.note(`${replica.name} goes on`);
  replica.paused = false;
}

function pointsOf({ perks, webhooks, consumes }: World['plan']): string[] {
  if (perks.redemptions > 0) return redeemingCrashPoints;
  if (webhooks > 0) return tellingCrashPoints;
  return consumes ? consumingCrashPoints : simCrashPoints;
}

/** Faults of processes, of the chain and of callers; those of calls strike where the call is made. */
function strike(world: World, wanted?: WorldFault): void {
  const { chance, chain, plan, replicas } = world;
  const up = replicas.filter(({ alive, paused }) => alive && !paused);
  const replica = up.length > 0 ? chance.one(up) : undefined;
  const faults: Partial<Record<WorldFault, () => void>> = {
    crash() {
      // Counted when it happens.
      // Some points are passed all the time, others hardly ever.
      if (replica) replica.crashAt ??= chance.hit(0.5) ? chance.below(10) : chance.one(pointsOf(plan));
    },
    kill: () => replica?.die(),
    pause() {
      if (!replica) return;
      replica.paused = true;
      if (chance.hit(0.7)) world.time.advance(LEASE_MS + 1_000);
    },
    'clock jump'() {
      const place = chance.below(world.skewMs.length);
      const byMs = chance.one(JUMPS_MS) * chance.one([1, -1]);
      world.skewMs[place] = (world.skewMs[place] ?? 0) + byMs;
      world.note(`the clock of r${place} jumps by ${byMs} ms`);
    },
    reorganisation() {
      const reach = Math.min(plan.finalityBlocks, chain.head.number - 1);
      // Just deep enough to take back payouts that were read, where there are such; else anything.
      const hurts = chain.head.number - (world.readPayouts ?? 0) + 1;
      const depth = hurts <= reach ? hurts : chance.between(1, reach);
      world.readPayouts = undefined;
      const flavour = chance.one(['drop', 'again', 'compete'] as const);
      chain.reorganize({ depth, flavour, dropMoves: flavour === 'drop' && chance.hit(0.5) });
      world.note(
        `${depth} blocks are taken back, ${flavour}; head ${chain.head.number}, ${noncesOf(chain.head)}`,
      );
    },
    'pool drop'() {
      const slots = [...chain.pool.keys()];
      if (slots.length > 0) chain.pool.delete(chance.one(slots));
      void world.node.arriveLate();
    },
    'base fee'() {
      chain.baseFeeWei = chance.one([1n, 5n, 10n, 30n, 60n, 95n, 150n]) * GWEI;
    },
    'foreign use'() {
      // Of a nonce that nobody was to use yet, a lane knows nothing: it stops, and waits for a person.
      const lanes =
        plan.perks.redemptions > 0 ? [PAYOUT_LANE, MINT_LANE, REDEEM_LANE] : [PAYOUT_LANE, MINT_LANE];
      const used = [...lanes, ...GAS_WALLETS.map(({ address }) => address)].filter((from) =>
        world.sent.has(slotOf({ from, nonce: nonceOf(chain.head.state, from) })),
      );
      if (used.length > 0) chain.useForeign(chance.one(used));
    },
    withdrawal() {
      const brandId = chance.one(BRANDS);
      const amount = Math.floor((chain.head.state.balances.get(brandId) ?? 0) * chance.one([0.8, 1]));
      if (amount > 0) chain.offerMove({ kind: 'withdrawal', brandId, amount });
    },
    'foreign logs'() {
      chain.offerMove({ kind: 'forgery', brandId: chance.one(BRANDS), amount: chance.one([10, 1_000]) });
    },
    'caller gone': () => void (replica && askAgain(world, replica, 'open')),
  };
  const names = (Object.keys(faults) as WorldFault[]).filter((name) => plan.rates.has(name));
  if (names.length === 0 && !wanted) return;
  const name = wanted ?? chance.one(names);
  if (name === 'crash' || world.strikesNow(name)) faults[name]?.();
}

/** Ends every fault and goes on until nothing is left to do; false when that takes too long. */
async function calmDown(world: World): Promise<boolean> {
  const { chain, time, plan } = world;
  world.calm = true;
  world.note('calm');
  if (chain.baseFeeWei > 33n * GWEI) chain.baseFeeWei = 33n * GWEI;
  for (const replica of [...world.replicas]) {
    replica.crashAt = undefined;
    replica.paused = false;
    if (!replica.alive) restart(world, replica);
  }
  await drain(world);
  let left: Left = {
    what: 'work',
    payouts: plan.events > 0,
    calls: plan.relays > 0,
    mints: plan.mints > 0,
    redemptions: plan.perks.redemptions > 0,
    refused: false,
  };
  for (let round = 0; round < CALM_ROUNDS && world.findings.list.length === 0; round += 1) {
    time.advance(2_100);
    // While everything is in a block and only has to get old there, a lane has nothing to do.
    const isBusy = left.payouts || left.calls || left.mints || left.redemptions;
    for (const replica of isBusy ? world.replicas : []) {
      for (let turns = 0; turns < 9; turns += 1) {
        replica.worked = false;
        if (!replica.turning && left.payouts) replica.turn();
        if (!replica.relaying && left.calls) replica.relay();
        if (!replica.minting && left.mints) replica.mint();
        if (!replica.redeeming && left.redemptions) replica.redeem();
        await drain(world);
        if (!replica.worked) break;
      }
    }
    chain.mine();
    for (const replica of world.replicas) {
      if (!replica.following) replica.follow();
      await drain(world);
    }
    left = await leftToDo(world);
    if (left.refused && left.what !== 'work') {
      // Everything else went on beside them: they have waited for long enough.
      time.advance(GIVE_UP_AFTER_MS);
      left = { ...left, redemptions: true };
      continue;
    }
    if (left.what === 'nothing' || (left.what === 'finality' && !plan.untilFinal)) return true;
    if (left.what === 'finality' || left.what === 'failures')
      for (let n = 1; n < plan.finalityBlocks + plan.confirmations; n += 1) chain.mine();
  }
  if (world.findings.list.length === 0) {
    const open = await world.ledger.rows('select nonce, status, hash, block_number from transactions');
    world.findings.add('everything comes to an end', `it does not; transactions: ${JSON.stringify(open)}`);
  }
  return false;
}

/** The user whose redemptions our contracts refuse; nobody in most runs. */
const refusedBy = ({ perks }: World['plan']) =>
  [...perks.manners].find(([, manner]) => manner === 'refused by us')?.[0] ?? 'nobody';

interface Left {
  /** failures: only finality is left to come, and rewards give their claims back by it. */
  what: 'nothing' | 'finality' | 'failures' | 'work';
  /** Which lanes have something to send, or to see into a block. */
  payouts: boolean;
  calls: boolean;
  mints: boolean;
  redemptions: boolean;
  /** Only redemptions wait that our contracts refuse, until they are too old. */
  refused: boolean;
}

async function leftToDo(world: World): Promise<Left> {
  const refusedUser = refusedBy(world.plan);
  const [row] = await world.ledger.rows<
    Record<'payouts' | 'calls' | 'mints' | 'redemptions' | 'refused' | 'open' | 'failed', number>
  >(
    `select (select count(*) from rewards where transaction_id is null and failure is null)
       + (select count(*) from transactions where status in ('stored', 'sent') and purpose = 'payout') as payouts,
     (select count(*) from relays where transaction_id is null)
       + (select count(*) from gas_top_ups where transaction_id is null)
       + (select count(*) from transactions where status in ('stored', 'sent') and purpose = 'relay') as calls,
     (select count(*) from mints where transaction_id is null and failure is null)
       + (select count(*) from operator_mints where transaction_id is null and failure is null)
       + (select count(*) from transactions where status in ('stored', 'sent') and purpose = 'mint') as mints,
     (select count(*) from redemptions where transaction_id is null and failure is null and wallet <> ?)
       + (select count(*) from transactions where status in ('stored', 'sent') and purpose = 'redeem') as redemptions,
     (select count(*) from redemptions where transaction_id is null and failure is null and wallet = ?) as refused,
     (select count(*) from transactions where status <> 'final') as open,
     (select count(*) from rewards where failure is not null and released_at is null)
       + (select count(*) from transactions
          where status = 'included' and outcome <> 'done' and purpose in ('payout', 'mint', 'redeem')) as failed`,
    refusedUser,
    refusedUser,
  );
  const { requests, relayRequests, mintRequests, redemptionRequests } = world;
  const asking = [...requests, ...relayRequests, ...mintRequests, ...redemptionRequests].some(
    ({ status }) => status === 'open',
  );
  const { payouts = 0, calls = 0, mints = 0, redemptions = 0, refused = 0, open = 0, failed = 0 } = row ?? {};
  const what = (): Left['what'] => {
    if (payouts + calls + mints + redemptions > 0) return 'work';
    if (open === 0) return asking ? 'work' : 'nothing';
    return failed > 0 || asking ? 'failures' : 'finality';
  };
  return {
    what: what(),
    payouts: payouts > 0,
    calls: calls > 0,
    mints: mints > 0,
    redemptions: redemptions + refused > 0,
    refused: refused > 0,
  };
}
