/** The console of a stack: loaded with the first page that a browser asks for, and a caller of the control API like any other. */
import type { ControlCall } from '../../client/control-call.ts';
import { callThrough } from '../../console/call-through.ts';
import type { LiveStreams } from '../../console/live.ts';
import { showClock } from '../../contract/control/clock.ts';
import type { ControlPages } from '../../http/control/host.ts';

/** Asks the control API in this process, with its token. */
export function ownCall(
  control: (request: Request) => Response | Promise<Response>,
  { token }: { token: string },
): ControlCall {
  // Requests of this process carry no Host header, and the control host asks for one.
  const fetch = async (request: Request) => {
    request.headers.set('host', 'localhost');
    return control(request);
  };
  return callThrough(fetch, { token, base: 'http://localhost' });
}

export function consolePages(deps: { call: ControlCall; live: LiveStreams }): ControlPages {
  const load = async () => {
    const [{ createConsole }, { answerOf }, { pages }] = await Promise.all([
      import('../../console/create-console.tsx'),
      import('../../console/page.ts'),
      import('../../console/pages.ts'),
    ]);
    const nowMs = async () => (await answerOf(deps, showClock)).nowMs;
    return createConsole({ pages, nowMs, ...deps });
  };
  let loading: ReturnType<typeof load> | undefined;
  const loaded = () => {
    loading ??= load();
    return loading;
  };
  return {
    fetch: async (request) => (await loaded()).fetch(request),
    locked: async (context) => (await loaded()).locked(context),
  };
}
