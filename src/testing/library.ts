/** The package's export `rewards/testing`: the steps of scenarios as functions; see library-types.ts. */
import { resolve } from 'node:path';
import { startFreshStack } from '../emulator/create-emulator.ts';
import { systemClock } from '../lib/clock.ts';
import { parseDuration } from '../lib/duration.ts';
import { secureRandom } from '../lib/ids.ts';
import { silentLog } from '../lib/log.ts';
import { createCaseContext } from '../scenario/run/case-context.ts';
import { decisionOf } from '../scenario/run/decision.ts';
import { targetOf } from '../scenario/run/stack-target.ts';
import { tryUntil } from '../scenario/run/try-until.ts';
import { stepKinds } from '../scenario/steps/all-steps.ts';
import { differences as found } from '../scenario/steps/match.ts';
import { inputProblems } from '../scenario/steps/step-kind.ts';
import { readyEnvironment } from '../stack/ready.ts';
import type { Answer, Difference, Stack, StackOptions } from './library-types.ts';

const TIMEOUT_MS = 30_000;

/** Starts a stack in this process; what it has started is stopped when it cannot. */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const clock = systemClock();
  const random = secureRandom(clock);
  const { seed = [], clock: time = {} } = options;
  const { ready, stop } = await startFreshStack({
    seedFiles: (typeof seed === 'string' ? [seed] : seed).map((path) => resolve(path)),
    clockStartMs: time.start === undefined ? undefined : instantOf(time.start),
    frozen: time.frozen ?? false,
    errorDialect: options.errors,
    log: silentLog,
  });
  const context = await createCaseContext({ clock, random, userAgent: 'rewards-testing' }, targetOf(ready));
  const [brand] = ready.brands;

  const does =
    (kind: string) =>
    async (input: unknown = {}) => {
      const step = stepKinds[kind];
      const parsed = step?.input.safeParse(input);
      if (!step || !parsed?.success) {
        const problems = inputProblems(parsed?.error?.issues ?? []);
        throw new TypeError(`stack.${kind}: ${problems.join('; ')}`);
      }
      return step.run(context.forStep(options.timeoutMs ?? TIMEOUT_MS).context, parsed.data);
    };
  const [move, fault, verify, snapshot] = [does('clock'), does('fault'), does('verify'), does('snapshot')];
  let snapshots = 0;
  const steps = Object.fromEntries(
    Object.keys(stepKinds)
      .filter((kind) => !['clock', 'fault', 'verify', 'note'].includes(kind))
      .map((kind) => [kind === 'check-in' ? 'checkIn' : kind, does(kind)]),
  );
  const eventually: Stack['eventually'] = async (check, within = '30s') => {
    const withinMs = parseDuration(within);
    if (withinMs === undefined)
      throw new TypeError(`stack.eventually: ${within} is not a duration such as 30s`);
    const last = await tryUntil(
      { sleep: (ms) => clock.sleep(ms), advance: (ms) => move({ advance: `${ms}ms` }) },
      withinMs,
      { once: () => tried(check, within), holds: (one) => 'value' in one },
    );
    if ('value' in last) return last.value;
    throw last.error;
  };
  return {
    ...steps,
    verify: (input: unknown = 'all') => verify(input),
    decided: async (given: Answer | Promise<Answer>) => {
      const answer = await given;
      const { client } = context.forStep(options.timeoutMs ?? TIMEOUT_MS).context;
      const decision = await decisionOf(client, answer.headers['x-request-id'] ?? null);
      return { ...answer, decision: decision?.name ?? undefined };
    },
    snapshot: (name = `point-${++snapshots}`) => snapshot(name),
    urls: ready.urls,
    env: readyEnvironment(ready),
    brand: { id: brand?.brandId ?? '', domain: brand?.domain ?? '', apiKey: brand?.apiKey ?? '' },
    users: ready.users.map(({ login, email, address }) => ({ login, email, address })),
    contracts: ready.contracts,
    clock: {
      now: async () => new Date(await context.nowMs()),
      advance: (advance: string) => move({ advance }),
      set: (set: string) => move({ set }),
      until: (until: string) => move({ until }),
      freeze: () => move({ freeze: true }),
      run: () => move({ freeze: false }),
    },
    faults: { set: fault, clear: (clear = 'all') => fault({ clear }) },
    eventually,
    stop,
    // Every step of the table is there under its name: test/scenarios/testing-library.test.ts compares.
  } as unknown as Stack;
}

function instantOf(text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new TypeError(`startStack: clock.start must be an RFC 3339 time, not ${text}`);
  return ms;
}

type Tried<Result> = { value: Result } | { error: unknown };

async function tried<Result>(check: () => Promise<Result> | Result, within: string): Promise<Tried<Result>> {
  try {
    const value = await check();
    return value === false ? { error: new Error(`it did not become true within ${within}`) } : { value };
  } catch (error) {
    return { error };
  }
}

export const differences = (value: unknown, expected: unknown): Difference[] =>
  found(expected, value).map(({ what, expected: wanted, got }) => ({ what, expected: wanted, got }));

export function expectFits(value: unknown, expected: unknown): void {
  const all = differences(value, expected);
  if (all.length === 0) return;
  const lines = all.map(
    ({ what, expected: wanted, got }) => `${what || 'it'}: expected ${wanted}, got ${got}`,
  );
  throw new Error(lines.join('\n'));
}
