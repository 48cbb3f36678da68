/** Events and relays on one machine with SQLite and blocks of a second, beside a bare server and the raw chain. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signTransfers, startChain } from '../setup/chain.ts';
import { startBaseline } from '../setup/processes.ts';
import { CALLS_PER_USER, relayRequests } from '../setup/relay-users.ts';
import { type Bench, type Scope, withScope } from '../setup/scope.ts';
import type { Found } from './found.ts';
import { startOnAnvil } from './on-anvil.ts';
import type { Plan } from './plan.ts';
import { inTurns, type Subject } from './rounds.ts';
import { baselineOf, rawTransfers, relaysOf } from './subjects.ts';

/** Callers of `relays-many`: with blocks of a second, each has some one call a second. */
const MANY_CALLERS = 1_024;
/** More than the service relays in a second: users for as many calls are made ahead. */
const RELAYS_PER_SECOND = 3_000;

const inRounds = ['naive', 'events', 'raw', 'relays', 'relays-many'] as const;
type InRounds = (typeof inRounds)[number];

export async function measureOneMachine(bench: Bench, plan: Plan): Promise<Found> {
  return withScope(bench, async (scope) => {
    bench.say('preparing chains, contracts, users and signed transfers');
    const { subjects, service } = await startAll(scope, plan);
    const names = inRounds.filter((name) => plan.names.includes(name));
    const { naive, events, relays } = plan.seconds;
    const rounds = await inTurns({
      ...bench,
      subjects,
      names,
      rounds: plan.rounds,
      warmUpSeconds: plan.warmUpSeconds,
      seconds: { naive, events, raw: 1_000, relays, 'relays-many': relays },
      callers: callersOf(plan),
    });
    const rewards = await service.stopAndVerify();
    bench.say(`rewards verify: ${rewards} rewards on SQLite, no difference`);
    return { rounds };
  });
}

const callersOf = ({ callers }: Plan): Record<InRounds, number> => ({
  naive: callers,
  events: callers,
  raw: callers,
  relays: callers,
  'relays-many': MANY_CALLERS,
});

async function startAll(scope: Scope, plan: Plan) {
  const { folder, started } = scope;
  const naive = await started(startBaseline('sqlite-server', join(folder, 'naive.sqlite')));
  const rawChain = await started(startChain());
  const { brands, chain, identity, service, subject } = await startOnAnvil(scope, plan);
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
    events: subject,
    raw: rawTransfers(rawChain, transfers, plan.transfersEach),
    relays: relaysOf(service, chain, await users('relays')),
    'relays-many': relaysOf(service, chain, await users('relays-many')),
  };
  return { subjects, service };
}
