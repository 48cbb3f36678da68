/** `rewards scenario record`: writes the requests of a running stack as a scenario that passes. */
import { access, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { requestDetails } from '../../../client/request-details.ts';
import { listBrands } from '../../../contract/control/brands.ts';
import { showClock } from '../../../contract/control/clock.ts';
import { listRequests, type RequestSummary } from '../../../contract/control/requests.ts';
import { delay } from '../../../lib/timers.ts';
import type { KnownStack } from '../../../scenario/record/known-names.ts';
import { recordedScenario } from '../../../scenario/record/recorded-scenario.ts';
import type { CommandContext, Handler } from '../../machine/context.ts';
import { CliError, problemOf } from '../../machine/errors.ts';
import type { Emulator } from '../../service/control.ts';
import { mustSucceed } from '../../service/control-reply.ts';
import { clientFor, resolveTarget } from '../../service/target.ts';
import { catchStopSignals } from '../../terminal/stop-signals.ts';

interface RecordOptions {
  file: string;
  title?: string;
  /** Milliseconds before now, by the clock of the stack. */
  since?: number;
  all?: boolean;
  force?: boolean;
}

const POLL_MS = 200;
/** What the log gives at once; a scenario of more steps is nothing that anybody reads. */
const REQUESTS_MAX = 500;

export const recordScenario: Handler<RecordOptions> = async (context, options) => {
  const path = resolve(context.runtime.cwd, options.file);
  await refuseExisting(path, options);
  const target = await resolveTarget(context);
  const emulator: Emulator = {
    urls: target.urls,
    call: clientFor(target, context).call,
    run: target.run,
  };
  const isPast = options.all === true || options.since !== undefined;
  const summaries = isPast ? await past(emulator, options) : await untilStopped(context, emulator);
  const recording = recordedScenario(
    await requestDetails(
      emulator.call,
      summaries.map(({ id }) => id),
    ),
    {
      stack: await knownStack(emulator),
      name: options.title ?? `recorded with ${summaries.length} requests`,
    },
  );
  const { yaml, steps, leftOut } = recording;
  const data = { file: options.file, steps, leftOut };
  if (steps === 0) {
    const message = 'There is no request that a scenario could have; no file was written.';
    const fix = 'Send requests while it records, or take those of before with --all.';
    return { ok: false, error: problemOf('E_REFUSED', { message, fix }), data };
  }
  const notes = leftOut.map((one) => `# left out: ${one.method} ${one.path}: ${one.why}\n`).join('');
  await writeFile(path, `# Recorded by \`rewards scenario record\`. Runs on a fresh stack.\n${notes}${yaml}`);
  return {
    ok: true,
    data,
    text: (style) =>
      [
        `${options.file}  ${steps} ${steps === 1 ? 'step' : 'steps'}`,
        ...leftOut.map((one) => style.dim(`  left out  ${one.method} ${one.path}: ${one.why}`)),
        style.dim(`  rewards scenario run ${options.file}`),
      ].join('\n'),
  };
};

async function refuseExisting(path: string, { file, force }: RecordOptions): Promise<void> {
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  if (isThere && !force)
    throw new CliError('E_FILE', {
      message: `${file} is there already.`,
      fix: 'Name another file, or replace it with --force.',
    });
}

/** Oldest first. */
async function past({ call }: Emulator, { since }: RecordOptions): Promise<RequestSummary[]> {
  const found = await listed(call, {});
  if (since === undefined) return found.reverse();
  const clock = await call(showClock);
  mustSucceed(clock);
  const from = Date.parse(clock.body.now) - since;
  return found.filter(({ at }) => Date.parse(at) >= from).reverse();
}

/** Everything from now until a signal, oldest first. */
async function untilStopped({ runtime, note }: CommandContext, { call }: Emulator) {
  const stopping = new AbortController();
  const signals = catchStopSignals(runtime);
  void signals.first.then(() => stopping.abort());
  let after = (await listed(call, { limit: 1 }))[0]?.id;
  note('recording: Ctrl-C ends it and writes the file');
  const found: RequestSummary[] = [];
  for (let last = false; ; ) {
    // Once more after the signal: what was sent before it belongs to the recording.
    const fresh = await listed(call, { after });
    after = fresh[0]?.id ?? after;
    found.push(...fresh.reverse());
    if (last) break;
    await delay(POLL_MS, stopping.signal);
    last = stopping.signal.aborted;
  }
  signals.release();
  return found;
}

async function listed(call: Emulator['call'], choice: { after?: string | undefined; limit?: number }) {
  const reply = await call(listRequests, { query: { limit: REQUESTS_MAX, ...choice } });
  mustSucceed(reply);
  return reply.body.requests;
}

/** Of the run file; of a stack that runs elsewhere its brands. */
export async function knownStack({ run, call }: Emulator): Promise<KnownStack> {
  if (run) return run;
  const reply = await call(listBrands);
  mustSucceed(reply);
  const brands = reply.body.brands.map(({ brandId, domains }) => ({
    brandId,
    apiKey: '',
    domain: domains[0] ?? '',
  }));
  return { brands, users: [], contracts: {} };
}
