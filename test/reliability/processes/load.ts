/** Clients that send events without pause, whatever becomes of them. */
import type { Stage } from './stage.ts';

export interface Load {
  users: string[];
  /** Ends it, once every request under way has its answer. */
  stop(): Promise<void>;
}

let people = 0;

/** `bases` are asked in turn; a client that fails goes on with another user after a moment. */
export function startLoad(stage: Stage, bases: string[], { clients = 6, pauseMs = 20 } = {}): Load {
  const users: string[] = [];
  let going = true;
  const running = Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let turn = client; going; turn++) {
        const user = `load-${process.pid}-${++people}@people.example`;
        users.push(user);
        const { kind } = await stage.call(bases[turn % bases.length] ?? '', user);
        await pause(kind === 'info' ? pauseMs * 5 : pauseMs);
      }
    }),
  );
  return {
    users,
    async stop() {
      going = false;
      await running;
    },
  };
}

export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits for something that comes by itself; fails with `what` after `timeoutMs`. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  timeoutMs = 20_000,
): Promise<void> {
  const giveUpAt = Date.now() + timeoutMs;
  while (!(await isSo())) {
    if (Date.now() > giveUpAt) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`);
    await pause(25);
  }
}

/** Users who were told nothing clear ask again until everybody has a clear answer. */
export async function askAgain(stage: Stage, base: string, users: string[]): Promise<void> {
  for (let tries = 0; tries < 40; tries++) {
    const answered = new Set(stage.calls.filter(({ kind }) => kind !== 'info').map(({ user }) => user));
    const open = users.filter((user) => !answered.has(user));
    if (open.length === 0) return;
    await Promise.all(open.map((user) => stage.call(base, user)));
    await pause(50);
  }
  throw new Error('some users never got a clear answer');
}
