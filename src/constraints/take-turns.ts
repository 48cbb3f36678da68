/** Requests to one server take turns, and a server that did not answer is left alone for a while, so that no caller waits for it twice. */
import { within } from '../lib/timers.ts';

interface Turns {
  atOnce: number;
  /** How long a server that failed is not asked again. */
  restMs: number;
  /** How long a question may wait for its turn. */
  waitMs: number;
  /** A clock that never steps. */
  nowMs: () => number;
}

interface Server {
  running: number;
  waiting: (() => void)[];
  restsUntilMs: number;
}

/** Undefined, without having asked: the server failed a moment ago, or too many questions to it are waiting. */
export function createTurns<Answer extends { outcome: string }>({ atOnce, restMs, waitMs, nowMs }: Turns) {
  const servers = new Map<string, Server>();

  const serverOf = (name: string): Server => {
    const known = servers.get(name) ?? { running: 0, waiting: [], restsUntilMs: 0 };
    servers.set(name, known);
    return known;
  };
  const isResting = ({ restsUntilMs }: Server) => nowMs() < restsUntilMs;
  const forgetIdle = () => {
    for (const [name, server] of servers)
      if (server.running === 0 && !isResting(server)) servers.delete(name);
  };

  async function turnAt(server: Server): Promise<boolean> {
    if (server.running < atOnce) {
      server.running += 1;
      return true;
    }
    let go = () => {};
    const called = new Promise<true>((resolve) => {
      go = () => resolve(true);
    });
    server.waiting.push(go);
    if (await within(waitMs, called)) return true;
    const place = server.waiting.indexOf(go);
    if (place >= 0) server.waiting.splice(place, 1);
    // The turn came in the moment in which the time ran out: it goes to the next.
    else passOn(server);
    return false;
  }

  function passOn(server: Server): void {
    const next = server.waiting.shift();
    if (next) next();
    else server.running -= 1;
  }

  return async function inTurn(name: string, ask: () => Promise<Answer>): Promise<Answer | undefined> {
    const server = serverOf(name);
    if (isResting(server) || !(await turnAt(server))) return undefined;
    try {
      if (isResting(server)) return undefined;
      const answer = await ask();
      if (answer.outcome === 'failed') server.restsUntilMs = nowMs() + restMs;
      return answer;
    } finally {
      passOn(server);
      forgetIdle();
    }
  };
}
