/** The webhooks of one process: production's deliverer, on receivers that fail, are slow, or answer and are not heard. */
import type { BusinessTime, Database } from '../../../src/ledger/database/database.ts';
import { queueWebhookEvents } from '../../../src/ledger/webhooks/queue-events.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import type { Crash } from '../../../src/lib/crash-points.ts';
import type { Log } from '../../../src/lib/log.ts';
import { createDeliverer } from '../../../src/webhooks/deliver.ts';
import type { Post, Posted } from '../../../src/webhooks/post.ts';
import { BRANDS } from './sim-ledger.ts';
import type { World } from './world.ts';

interface TellingDeps {
  database: Database;
  businessTime: BusinessTime;
  realClock: Clock;
  log: Log;
  crash: Crash;
  owner: string;
  /** Waits for the scheduler. */
  park: (label: string) => Promise<void>;
}

/** Posts that end in a failure, of a whole run: no endpoint is turned off, and no delivery runs out of attempts. */
const FAILURES_MAX = 5;

export function createTelling(world: World, deps: TellingDeps) {
  const { chance, plan, random } = world;
  const { database, businessTime, park } = deps;
  const post = async ({ headers }: Post): Promise<Posted> => {
    const event = headers['webhook-id'] ?? '';
    await park('webhook');
    const fails = !world.calm && world.failedPosts.length < FAILURES_MAX && chance.hit(plan.webhookFailures);
    world.note(`${deps.owner} posts ${event}${fails ? ' in vain' : ''}`);
    if (!fails) {
      world.arrived.add(event);
      return { outcome: 'answered', status: 200, body: '', ms: 1 };
    }
    world.failedPosts.push(event);
    if (chance.hit(0.5)) return { outcome: 'failed', why: 'no answer', ms: 1 };
    return { outcome: 'answered', status: 500, body: '', ms: 1 };
  };
  const deliverer = createDeliverer(
    { ...deps, random, post },
    {
      atOnceOfEndpoint: 4,
      atOnce: 8,
      leaseMs: 3_000,
      answerTriesMs: 30_000,
      pollMs: 1_000,
      recordMax: 8,
      stopWaitMs: 1_000,
    },
  );
  return {
    start: deliverer.start,
    /** What a commit does that makes something true of which a brand wants to be told. */
    async tell(number: number): Promise<void> {
      const event = {
        id: `evt_${number}`,
        brandId: BRANDS[0] ?? '0x',
        type: 'reward.distributed' as const,
        subject: `subject-${number}`,
        body: '{}',
        transactionId: null,
      };
      await database.atomically((tx) => queueWebhookEvents(tx, [event], businessTime()));
      deliverer.nudge();
    },
  };
}
