/** `rewards requests tail`: prints each new request until a signal or until its reader leaves. */
import type { RequestFilter, RequestSummary } from '../../client/bodies.ts';
import { delay } from '../../lib/timers.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { exitCodes } from '../machine/exit-codes.ts';
import { mustBe } from '../service/control-reply.ts';
import { catchStopSignals } from '../terminal/stop-signals.ts';
import { requestEntry } from './request-line.ts';
import { isRequestList } from './run.ts';
import { type RequestsOptions, type RequestsTarget, withRequests } from './target.ts';

const POLL_MS = 200;
/** More requests than an emulator gets between two polls. */
const MOST_AT_ONCE = 500;

type TailOptions = RequestFilter & RequestsOptions & { limit: number };

export const tailRequests: Handler<TailOptions> = (context, options) =>
  withRequests(context, options, async ({ requests: { list } }) => tail(context, options, list));

async function tail(
  { runtime, settings, style }: CommandContext,
  { status, host, brand, decision, path, method, user, limit }: TailOptions,
  list: RequestsTarget['requests']['list'],
): Promise<number> {
  const stopping = new AbortController();
  const signals = catchStopSignals(runtime);
  void signals.first.then(() => stopping.abort());

  const younger = async (filter: RequestFilter): Promise<RequestSummary[]> => {
    const reply = await list(filter);
    mustBe(reply, isRequestList);
    return reply.body.requests;
  };
  const print = (requests: RequestSummary[]) => {
    for (const request of requests.reverse()) {
      runtime.stdout.write(`${requestEntry(request, { format: settings.output, style: style.stdout })}\n`);
    }
  };

  const filter = { status, host, brand, decision, path, method, user };
  // The position is read first and without the filter, so that no request is missed between the two polls.
  let after = (await younger({ limit: 1 }))[0]?.id;
  if (limit > 0) {
    const first = await younger({ ...filter, limit });
    after = first[0]?.id ?? after;
    print(first);
  }
  while (!stopping.signal.aborted && !runtime.stdout.isClosed) {
    await delay(POLL_MS, stopping.signal);
    const fresh = await younger({ ...filter, limit: MOST_AT_ONCE, after });
    after = fresh[0]?.id ?? after;
    print(fresh);
  }
  signals.release();
  return exitCodes.done;
}
