/** Tells open pages by server-sent events that something has happened: they then fetch what they show again. */

/** A browser needs one stream, whatever its number of tabs, and one without locks needs one a tab; more are not people, and wait. */
const STREAMS_MAX = 128;
/** How soon a change is told after a quiet time. */
const LOOK_EVERY_MS = 500;
/** While changes do not end, each is told so many looks after the one before: pages are no older than three seconds, and cost a busy stack little. */
const LOOKS_BETWEEN = 6;
/** Listeners cut connections that are silent for longer; this also finds readers who have gone. */
const HEARTBEAT_EVERY_MS = 10_000;
/** What browsers wait before they come again after the stack was away. */
const RETRY_MS = 1_000;

export interface LiveDeps {
  /** Grows with every request to the service. */
  requests: () => number;
  /** Calls `work` every so many milliseconds until the returned function is called. */
  every: (ms: number, work: () => void) => () => void;
}

export type LiveStreams = ReturnType<typeof createLiveStreams>;

export function createLiveStreams({ requests, every }: LiveDeps) {
  let changes = 0;
  const revision = () => changes + requests();
  const open = new Set<Listener>();
  const shared = sharedTimers({ every, revision, open });
  return {
    /** Something was done by the control API. */
    changed(): void {
      changes++;
    },
    /** A stream of events whose id is the revision; 503 where too many are open. */
    answer(): Response {
      if (open.size >= STREAMS_MAX) {
        return new Response('Too many pages listen already; this one is as new as its last load.\n', {
          status: 503,
          headers: { 'retry-after': '30' },
        });
      }
      let end = () => {};
      const stream = new ReadableStream<Uint8Array>({
        start(controller) {
          const told = revision();
          controller.enqueue(encoded(`retry: ${RETRY_MS}\nid: ${told}\n\n`));
          const listener: Listener = {
            told,
            toldAtLook: Number.NEGATIVE_INFINITY,
            isReady: () => (controller.desiredSize ?? 0) > 0,
            send: (bytes) => controller.enqueue(bytes),
            end() {
              if (!open.delete(listener)) return;
              shared.fit();
              try {
                controller.close();
              } catch {
                // Its reader has gone.
              }
            },
          };
          end = listener.end;
          open.add(listener);
          shared.fit();
        },
        cancel: () => end(),
      });
      return new Response(stream, {
        headers: {
          'content-type': 'text/event-stream',
          'cache-control': 'no-store',
          'x-accel-buffering': 'no',
        },
      });
    },
    /** Ends all streams: the listener under them closes, or another stack takes this one's place. */
    close(): void {
      for (const listener of [...open]) listener.end();
    },
    get size() {
      return open.size;
    },
  };
}

interface Listener {
  /** The revision that it knows, and since which look. */
  told: number;
  toldAtLook: number;
  /** A reader that does not keep up is told once it does. */
  isReady: () => boolean;
  send: (bytes: Uint8Array) => void;
  end: () => void;
}

const encoded = (text: string) => new TextEncoder().encode(text);
const HEARTBEAT = encoded(': still here\n\n');

/** One look and one heartbeat for all who listen, and none while nobody does. */
function sharedTimers(of: { every: LiveDeps['every']; revision: () => number; open: ReadonlySet<Listener> }) {
  const { every, revision, open } = of;
  let looks = 0;
  const look = () => {
    looks++;
    const now = revision();
    const late = [...open].filter(
      ({ told, toldAtLook, isReady }) => told !== now && looks - toldAtLook >= LOOKS_BETWEEN && isReady(),
    );
    if (late.length === 0) return;
    const bytes = encoded(`id: ${now}\nevent: changed\ndata: ${now}\n\n`);
    for (const listener of late) {
      listener.told = now;
      listener.toldAtLook = looks;
      listener.send(bytes);
    }
  };
  const beat = () => {
    for (const listener of open) listener.send(HEARTBEAT);
  };
  let stops: (() => void)[] = [];
  return {
    /** Begins with the first who listens, and ends with the last. */
    fit(): void {
      if (open.size > 0 === stops.length > 0) return;
      if (open.size > 0) stops = [every(LOOK_EVERY_MS, look), every(HEARTBEAT_EVERY_MS, beat)];
      else for (const stop of stops.splice(0)) stop();
    },
  };
}
