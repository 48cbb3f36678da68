/** Events of new users on ledgers that hold a thousand claims to a million, and how long the largest takes to be compared with its chain. */
import { program } from '../setup/processes.ts';
import { type Bench, withScope } from '../setup/scope.ts';
import { verified } from '../setup/service.ts';
import { measureVerify } from '../verify/measure.ts';
import type { Found } from './found.ts';
import { LITTLE_PAST, startOnStandIn } from './on-stand-in.ts';
import type { Plan } from './plan.ts';
import { inTurns } from './rounds.ts';

/** A thousand, ten thousand, … and `largest`. */
export function sizesUpTo(largest: number): number[] {
  const sizes = [];
  for (let size = LITTLE_PAST; size < largest; size *= 10) sizes.push(size);
  return [...sizes, largest];
}

export async function measureGrowth(bench: Bench, plan: Plan): Promise<Found> {
  return withScope(bench, async (scope) => {
    const sizes = sizesUpTo(plan.claims);
    const ledgers: Awaited<ReturnType<typeof startOnStandIn>>[] = [];
    for (const claims of sizes) {
      bench.say(`writing a ledger of ${claims} claims`);
      ledgers.push(await startOnStandIn(scope, claims));
    }
    const names = sizes.map(String);
    const of = <Value>(value: (ledger: (typeof ledgers)[number]) => Value) =>
      Object.fromEntries(ledgers.map((ledger) => [String(ledger.claims), value(ledger)])) as Record<
        string,
        Value
      >;
    const rounds = await inTurns({
      ...bench,
      names,
      subjects: of(({ subject }) => subject),
      rounds: plan.rounds,
      warmUpSeconds: plan.warmUpSeconds,
      seconds: of(() => plan.seconds.events),
      callers: of(() => plan.callers),
    });
    for (const { service } of ledgers) await service.stop();
    let verify: Found['verify'];
    for (const { claims, env, databaseUrl, nodeUrl, folder } of ledgers) {
      if (claims === plan.claims) {
        const { say } = bench;
        const measured = await measureVerify({ program: program(), databaseUrl, nodeUrl, say });
        if (measured.differences > 0)
          throw new Error(`ledger and chain: ${measured.differences} differences`);
        verify = { ...measured, rewards: claims };
      } else await verified({ env, cwd: folder });
      bench.say(`rewards verify: the ledger that began with ${claims}, no difference`);
    }
    const growth = ledgers.flatMap(({ claims }) => {
      const found = rounds[String(claims)];
      return found ? [{ claims, rounds: found }] : [];
    });
    return { rounds: {}, growth, ...(verify && { verify }) };
  });
}
