/** Events and relays on one machine with SQLite and blocks of a second, beside a bare server and the raw chain. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../report/statistics.ts';
import { brandsOf, signTransfers, startChain } from '../setup/chain.ts';
import { startBaseline } from '../setup/processes.ts';
import { CALLS_PER_USER, relayRequests, startIdentity } from '../setup/relay-users.ts';
import { type Bench, type Scope, withScope } from '../setup/scope.ts';
import { startMeasuredService } from '../setup/service.ts';
import type { Found } from './found.ts';
import type { Plan } from './plan.ts';
import { inTurns, measure, perSecond, problemsOf, type Subject } from './rounds.ts';
import { baselineOf, eventsOf, rawTransfers, relaysOf } from './subjects.ts';

/** Callers of `relays-many`: with blocks of a second, each has some one call a second. */
const MANY_CALLERS = 1_024;
const CONCURRENCIES = [1, 8, 32, 64, 128, 256, 512];
/** More than the service relays in a second: users for as many calls are made ahead. */
const RELAYS_PER_SECOND = 3_000;
/** Connections of an open loop: more than half of the highest rate ever has open, unless the service stalls. */
const OPEN_CALLERS = 512;

const inRounds = ['naive', 'events', 'raw', 'relays', 'relays-many'] as const;
type InRounds = (typeof inRounds)[number];

export async function measureOneMachine(bench: Bench, plan: Plan): Promise<Found> {
  return withScope(bench, async (scope) => {
    bench.say('preparing chains, contracts, users and signed transfers');
    const { subjects, service } = await startAll(scope, plan);
    const names = inRounds.filter((name) => plan.names.includes(name));
    const { naive, events, relays } = plan.seconds;
    const rounds = await inTurns({
      ...{ ...bench, subjects, names, rounds: plan.rounds, warmUpSeconds: plan.warmUpSeconds },
      seconds: { naive, events, raw: 1_000, relays, 'relays-many': relays },
      callers: callersOf(plan),
    });
    const found: Found = { rounds };
    const asked = { bench, plan, events: subjects.events };
    if (plan.names.includes('concurrency')) found.concurrency = await byConcurrency(asked);
    if (plan.names.includes('latency')) {
      const known = [
        median(rounds.events?.rate ?? []),
        ...(found.concurrency ?? []).map((one) => one.perSecond),
      ];
      found.latency = await atHalfLoad(asked, Math.max(...known.filter(Number.isFinite), 0));
    }
    const rewards = await service.stopAndVerify();
    bench.say(`rewards verify: ${rewards} rewards on SQLite, no difference`);
    return found;
  });
}

const callersOf = ({ callers }: Plan): Record<InRounds, number> => ({
  ...{ naive: callers, events: callers, raw: callers, relays: callers, 'relays-many': MANY_CALLERS },
});

async function startAll({ folder, started }: Scope, plan: Plan) {
  const brands = brandsOf(plan.brands);
  const naive = await started(startBaseline('sqlite-server', join(folder, 'naive.sqlite')));
  const chain = await started(startChain());
  const rawChain = await started(startChain());
  const identity = await started(startIdentity());
  const service = await started(
    startMeasuredService(chain, { folder, brands, identity: identity.env, profile: plan.profile }),
  );
  const file = (name: string, requests: unknown[]) => {
    const path = join(folder, name);
    writeFileSync(path, requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
    return path;
  };
  const seconds = plan.warmUpSeconds + plan.rounds * plan.seconds.relays;
  const users = async (name: 'relays' | 'relays-many') => {
    const callers = callersOf(plan)[name];
    const many = callers * Math.ceil((RELAYS_PER_SECOND * seconds) / CALLS_PER_USER / callers);
    const forRelays = { perks: service.contracts.perks, brands, users: plan.names.includes(name) ? many : 0 };
    const from = name === 'relays' ? 0 : 1_000_000;
    return file(`${name}.jsonl`, await relayRequests(identity, { ...forRelays, from }));
  };
  const each = plan.names.includes('raw') ? plan.transfersEach * (plan.rounds + 1) : 0;
  const transfers = file('transfers.jsonl', await signTransfers(rawChain, { callers: plan.callers, each }));
  const subjects: Record<InRounds, Subject> = {
    naive: baselineOf(naive, brands[0]),
    events: eventsOf(service, { chain, brands }),
    raw: rawTransfers(rawChain, transfers, plan.transfersEach),
    relays: relaysOf(service, chain, await users('relays')),
    'relays-many': relaysOf(service, chain, await users('relays-many')),
  };
  return { subjects, service };
}

interface Asked {
  bench: Bench;
  plan: Plan;
  events: Subject;
}

async function byConcurrency({ bench, plan, events }: Asked): Promise<NonNullable<Found['concurrency']>> {
  const found = [];
  for (const callers of CONCURRENCIES) {
    const measured = await measure(bench.generator, events, { callers, seconds: plan.seconds.concurrency });
    for (const problem of problemsOf(measured)) bench.say(`${callers} callers: ${problem}`);
    const rate = perSecond(measured);
    bench.say(`${callers} callers: ${Math.round(rate)} events a second`);
    found.push({ callers, perSecond: rate, p50Ms: measured.p50Ms, p99Ms: measured.p99Ms });
  }
  return found;
}

/** `highest`: of the rates that were measured; 0 when none was, and a short load says it. */
async function atHalfLoad(
  { bench, plan, events }: Asked,
  highest: number,
): Promise<NonNullable<Found['latency']>> {
  const full =
    highest || perSecond(await measure(bench.generator, events, { callers: plan.callers, seconds: 5 }));
  const half = Math.round(full / 2);
  const how = { callers: OPEN_CALLERS, seconds: plan.seconds.latency, perSecond: half };
  const measured = await measure(bench.generator, events, how);
  for (const problem of problemsOf(measured)) bench.say(`latency: ${problem}`);
  bench.say(`${half} events a second arrive: p50 ${measured.p50Ms} ms, p99 ${measured.p99Ms} ms`);
  return { ...measured, perSecond: half, callers: OPEN_CALLERS };
}
