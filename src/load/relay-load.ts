/** A load test that knows the relay's limits: whether exactly as many calls pass as may, and how long they take. */
import type { UserWallets } from '../client/chain/user-wallet.ts';
import { rateWindowIn } from '../client/reply.ts';
import { moveClock } from '../contract/control/clock.ts';
import { stopwatch } from '../lib/timers.ts';
import { createLatencyRecorder } from './latency.ts';
import { runPaced } from './pace.ts';
import { type RelayLoadOptions, type RelayReport, relayReport, type Sample } from './relay-report.ts';
import { checkResets, clockOf, type ResetCheck } from './relay-reset.ts';
import { createRelayTally } from './relay-tally.ts';
import { addressOf, type Client, prepareUsers, relayOne } from './relay-users.ts';

interface RelayLoadDeps {
  client: Client;
  wallets: UserWallets;
  random: { bytes(count: number): Uint8Array };
  /** As the brand's page would send it. */
  origin?: string | undefined;
  signal: AbortSignal;
  /** Hears of each answer as it comes. */
  onAnswer?: ((answer: Pick<Sample, 'verdict' | 'tookMs'>) => void) | undefined;
  onProgress: (phase: 'preparing' | 'relaying' | 'resetting', done: number, of: number) => void;
}

export async function loadRelay(deps: RelayLoadDeps, wish: RelayLoadOptions): Promise<RelayReport> {
  const { client, signal, random } = deps;
  const run = Buffer.from(random.bytes(5)).toString('hex');
  const base = Buffer.from(random.bytes(4)).readUInt32BE();
  let prepared = 0;
  const users = await prepareUsers(
    { ...deps, onDone: () => deps.onProgress('preparing', ++prepared, wish.users) },
    {
      count: wish.users,
      // Two more, for the end of the windows.
      callsEach: wish.perUser + 2,
      name: (index) => `load-${run}-${index}@people.example`,
    },
  );
  const addressWindow = wish.oneAddress ? await probeAddress(client, wish) : undefined;

  const tally = createRelayTally(wish.users);
  const [admitted, refused] = [createLatencyRecorder(), createLatencyRecorder()];
  const samples: Sample[] = [];
  // Answers are compared with a time that is never later than the service's clock.
  const startedAtMs = await clockOf(client);
  const total = wish.users * wish.perUser;
  const elapsedMs = stopwatch();
  let done = 0;
  const job = async (index: number, lateMs: number) => {
    const at = { user: index % wish.users, request: Math.floor(index / wish.users) };
    const user = users[at.user];
    if (!user) return;
    const address = wish.oneAddress ? undefined : addressOf({ base, perUser: wish.perUser }, at);
    const sentMs = elapsedMs();
    const reply = await relayOne(client, { user, call: at.request, address, origin: deps.origin });
    const tookMs = elapsedMs() - sentMs + lateMs;
    const verdict = tally.record(at.user, reply, startedAtMs);
    (verdict === 'admitted' ? admitted : refused).record(tookMs);
    samples.push({ atMs: sentMs, tookMs, verdict });
    deps.onAnswer?.({ tookMs, verdict });
    deps.onProgress('relaying', ++done, total);
  };
  const sent = signal.aborted ? 0 : await runPaced({ count: total, run: job }, wish, signal);
  const durationMs = elapsedMs();
  const ends = addressWindow ? [addressWindow] : tally.users;
  const firstEndMs = Math.min(...ends.map(({ resetAtMs }) => resetAtMs ?? Number.POSITIVE_INFINITY));
  const outlasted = (await clockOf(client)) >= firstEndMs;
  tally.checkCountdown();

  let reset: ResetCheck | undefined;
  if (wish.checkReset && !wish.oneAddress && !signal.aborted) {
    deps.onProgress('resetting', 0, wish.users);
    reset = await checkResets({ ...deps, users, tally }, { nextCall: wish.perUser, base });
  }
  return relayReport({
    wish,
    sent,
    durationMs,
    outlasted,
    tally,
    addressWindow,
    admitted,
    refused,
    samples,
    reset,
  });
}

/** How much of its window the one address has left, read with a lookup that needs no token. */
async function probeAddress(
  client: Client,
  { checkReset }: Pick<RelayLoadOptions, 'checkReset'>,
): Promise<ReturnType<typeof rateWindowIn>> {
  // The open window may end during the run; a new one leaves a whole minute.
  if (checkReset) await client.call(moveClock, { body: { advance: '61s' } });
  const reply = await client.relayState(`0x${'0'.repeat(64)}`);
  return rateWindowIn(reply.headers);
}
