/** Tells open pages by server-sent events that something has happened: they then fetch what they show again. */

/** Every open browser needs one stream, whatever its number of tabs; more than this are other programs, and wait. */
const STREAMS_MAX = 32;
/** How often a stream looks whether anything has happened: pages are no older than this. */
const LOOK_EVERY_MS = 500;
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
  const open = new Set<() => void>();
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
      const encoder = new TextEncoder();
      let end = () => {};
      const stream = new ReadableStream<Uint8Array>({
        start(controller) {
          const send = (text: string) => controller.enqueue(encoder.encode(text));
          let told = revision();
          send(`retry: ${RETRY_MS}\nid: ${told}\n\n`);
          const stopLooking = every(LOOK_EVERY_MS, () => {
            const now = revision();
            // A reader that does not keep up is told once it does.
            if (now === told || (controller.desiredSize ?? 0) <= 0) return;
            told = now;
            send(`id: ${now}\nevent: changed\ndata: ${now}\n\n`);
          });
          const stopBeating = every(HEARTBEAT_EVERY_MS, () => send(': still here\n\n'));
          end = () => {
            if (!open.delete(end)) return;
            stopLooking();
            stopBeating();
            try {
              controller.close();
            } catch {
              // Its reader has gone.
            }
          };
          open.add(end);
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
      for (const end of [...open]) end();
    },
    get size() {
      return open.size;
    },
  };
}
