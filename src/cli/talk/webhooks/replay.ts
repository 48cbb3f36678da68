/** `rewards webhooks replay`: delivers recorded events again, as often and as badly as wished, and counts what they do. */
import { secureRandom } from '../../../lib/ids.ts';
import type { CommandContext, Handler } from '../../machine/context.ts';
import { problemOf, usageError } from '../../machine/errors.ts';
import type { CommandResult } from '../../machine/output.ts';
import { chosenEvents } from './choose-events.ts';
import { type Effects, effectsInAnswers, effectsOnChain, effectsProblem } from './effects.ts';
import { type Order, planDeliveries, type Tampering } from './plan-deliveries.ts';
import { destinationOf, type Processor, processorIfRunning } from './processor.ts';
import type { RecordedEvent } from './recorded-events.ts';
import { type Delivered, sendDeliveries } from './send-deliveries.ts';
import { replayText } from './view.ts';

export interface SendingOptions {
  to?: string;
  secret?: string;
  times: number;
  concurrency: number;
  reorder?: WantedOrder;
  /** Milliseconds. */
  delay: number;
  stale?: boolean;
  future?: boolean;
  tamper?: Tampering;
  newId?: boolean;
  expectEffects?: number;
  /** Milliseconds. */
  watch: number;
}

/** A seed that is left out is chosen, and told. */
type WantedOrder = { kind: 'reverse' } | { kind: 'shuffle'; seed?: number | undefined };

interface ReplayOptions extends SendingOptions {
  events: string[];
  from?: string;
  type?: string;
}

/** Past the tolerance of 300 s on either side. */
const OUT_OF_TOLERANCE_SECONDS = 600;

export const replayEvents: Handler<ReplayOptions> = async (context, options) => {
  const processor = await processorIfRunning(context);
  const events = await chosenEvents(context, { ...options, processor });
  return deliver(context, events, { processor, options });
};

/** Sends the events as the options say; the result has each answer, the effects, and the verdict. */
export async function deliver(
  context: CommandContext,
  events: readonly RecordedEvent[],
  { processor, options }: { processor: Processor | undefined; options: SendingOptions },
): Promise<CommandResult> {
  if (options.stale && options.future)
    throw usageError('--stale and --future exclude each other.', 'Leave one of them out.');
  const { to, secret } = await destinationOf(processor, options);
  const { runtime, settings } = context;
  const reorder = orderOf(options.reorder, runtime);
  const planned = planDeliveries(events, {
    times: options.times,
    reorder,
    tamper: options.tamper,
    newIds: options.newId ?? false,
  });
  const counting = await createCounting(processor, events);
  const delivered = await sendDeliveries(
    {
      to,
      secret,
      fetch,
      concurrency: options.concurrency,
      delayMs: options.delay,
      nowMs: processor ? processor.nowMs : async () => runtime.clock.now(),
      agedBySeconds: options.stale
        ? OUT_OF_TOLERANCE_SECONDS
        : options.future
          ? -OUT_OF_TOLERANCE_SECONDS
          : 0,
      timeoutMs: settings.timeout,
      sleep: (ms) => runtime.clock.sleep(ms),
    },
    planned,
  );
  const effects = await counting.effects(delivered, () => runtime.clock.sleep(options.watch));
  const problem = effectsProblem(effects, options.expectEffects);
  const data = {
    to,
    ...(reorder?.kind === 'shuffle' && { seed: reorder.seed }),
    deliveries: delivered,
    effects,
    expected: options.expectEffects ?? null,
  };
  const text = replayText(data, problem);
  if (problem === undefined) return { ok: true, data, text };
  const fix = 'Look at the deliveries: `rewards requests list` shows what the service answered to each.';
  return { ok: false, error: problemOf('E_UNEXPECTED_EFFECTS', { message: problem, fix }), data, text };
}

function orderOf(wanted: WantedOrder | undefined, { clock }: CommandContext['runtime']): Order {
  if (wanted?.kind !== 'shuffle') return wanted;
  const [low = 0, high = 0] = secureRandom(clock).bytes(2);
  return { kind: 'shuffle', seed: wanted.seed ?? high * 256 + low };
}

/** Counts on the chain of the stack that runs here, else in the answers. */
async function createCounting(processor: Processor | undefined, events: readonly RecordedEvent[]) {
  const run = processor?.target.run;
  const answers = {
    effects: async (delivered: readonly Delivered[]): Promise<Effects> => effectsInAnswers(delivered),
  };
  const pointsSale = run?.contracts.pointsSale;
  if (!run || pointsSale === undefined) return answers;
  const { countSessionMints } = await import('../../../client/chain/count-session-mints.ts');
  const sessionIds = [...new Set(events.map(({ objectId }) => objectId))].filter((id) =>
    id.startsWith('cs_'),
  );
  const count = () => countSessionMints(run.urls.rpc, { pointsSale, sessionIds });
  const before = await count();
  return {
    async effects(delivered: readonly Delivered[], watch: () => Promise<void>): Promise<Effects> {
      // A receiver may answer before it mints, and a mint that is not expected comes late.
      await watch();
      return effectsOnChain(delivered.length, { before, after: await count() });
    },
  };
}
