/** `rewards webhooks inbox`: reads the emulator's receiver over the control API, once or until a signal. */
import { type InboxDelivery, listInbox } from '../../../contract/control/inbox.ts';
import { delay } from '../../../lib/timers.ts';
import type { CommandContext, Handler } from '../../machine/context.ts';
import { exitCodes } from '../../machine/exit-codes.ts';
import type { CommandResult, OutputFormat } from '../../machine/output.ts';
import { isObject } from '../../service/assignments.ts';
import { mustSucceed } from '../../service/control-reply.ts';
import { callFor } from '../../service/target.ts';
import { catchStopSignals } from '../../terminal/stop-signals.ts';
import { type Style, shortHash } from '../../terminal/style.ts';

const POLL_MS = 200;
/** More deliveries than an emulator makes between two polls. */
const MOST_AT_ONCE = 500;

interface InboxOptions {
  limit: number;
  follow: boolean;
}

export const showInbox: Handler<InboxOptions> = async (context, { limit, follow }) => {
  const call = await callFor(context);
  const list = async (choice: { limit: number; after?: string | undefined }) => {
    const reply = await call(listInbox, { query: choice });
    mustSucceed(reply);
    return reply.body.deliveries;
  };
  if (follow) return followInbox(context, limit, list);
  // The emulator gives one at least; -n 0 is for --follow.
  const deliveries = limit === 0 ? [] : await list({ limit });
  return {
    ok: true,
    data: { deliveries },
    text: (style) =>
      deliveries.length === 0
        ? style.dim('nothing was delivered yet')
        : deliveries.map((delivery) => deliveryLine(delivery, style)).join('\n'),
  } satisfies CommandResult;
};

type Deliveries = InboxDelivery[];

async function followInbox(
  { runtime, settings, style }: CommandContext,
  limit: number,
  list: (choice: { limit: number; after?: string | undefined }) => Promise<Deliveries>,
): Promise<number> {
  const stopping = new AbortController();
  const signals = catchStopSignals(runtime);
  void signals.first.then(() => stopping.abort());
  const print = (deliveries: Deliveries) => {
    for (const delivery of deliveries.reverse()) {
      const line = deliveryEntry(delivery, { format: settings.output, style: style.stdout });
      runtime.stdout.write(`${line}\n`);
    }
  };
  const earlier = await list({ limit: Math.max(limit, 1) });
  let after = earlier[0]?.id;
  print(earlier.slice(0, limit));
  while (!stopping.signal.aborted && !runtime.stdout.isClosed) {
    await delay(POLL_MS, stopping.signal);
    const fresh = await list({ limit: MOST_AT_ONCE, after });
    after = fresh[0]?.id ?? after;
    print(fresh);
  }
  signals.release();
  return exitCodes.done;
}

/** A line for people, or the JSON of a stream's entry. */
const deliveryEntry = (delivery: InboxDelivery, as: { format: OutputFormat; style: Style }) =>
  as.format === 'json' || as.format === 'jsonl'
    ? JSON.stringify({ type: 'delivery', ...delivery })
    : deliveryLine(delivery, as.style);

/** `09:41:07  reward.distributed  evt_0198…  alice@demo.example  +100 RWT  tx 0xa1b2…  signatures valid`. */
function deliveryLine({ receivedAt, body, headers, signature }: InboxDelivery, style: Style): string {
  const fields = isObject(body) ? body : {};
  const data = isObject(fields.data) ? fields.data : {};
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? [value] : []);
  return [
    style.dim(receivedAt.slice(11, 19)),
    (text(fields.type)[0] ?? 'no event').padEnd('reward.distributed'.length),
    ...text(headers['webhook-id']).map((id) => style.dim(id)),
    ...text(data.userEmail),
    ...(typeof data.amount === 'number' ? [style.bold(`+${data.amount} RWT`)] : []),
    ...text(data.transactionHash).map((hash) => `tx ${shortHash(hash)}`),
    verdictText(signature, style),
  ].join('  ');
}

function verdictText(signature: InboxDelivery['signature'], style: Style): string {
  if (!signature) return style.yellow('no endpoint has this address');
  if (signature.valid) return style.green('signatures valid');
  const { bare, timestamped, standard } = signature;
  const forms = { 'X-Service-Signature': bare, 'X-Service-Signature-Timestamped': timestamped };
  const wrong = Object.entries({ ...forms, 'webhook-signature': standard })
    .filter(([, verdict]) => verdict !== 'valid')
    .map(([name, verdict]) => `${name} ${verdict}`);
  return style.red(wrong.join(', '));
}
