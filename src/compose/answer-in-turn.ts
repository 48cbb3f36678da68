/** Answers the requests of one connection one after the other, and reads no further while any of them waits. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Turn {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
}

/** The requests of one connection. */
interface Turns {
  /** One of them is being answered. */
  isBusy: boolean;
  waiting: Turn[];
  /** Begins with the next one. */
  next: () => void;
}

/**
 * One read of a socket can hold hundreds of pipelined requests, and answers that the client does not take stay in
 * memory. So a request starts when the answer before it was taken, and a connection with more than `waitingMax`
 * requests behind the first is cut.
 */
export function answerInTurn(
  answer: RequestListener,
  { waitingMax }: { waitingMax: number },
): RequestListener {
  const turnsAt = new WeakMap<Socket, Turns>();

  const start = (turns: Turns, { incoming, outgoing }: Turn) => {
    turns.isBusy = true;
    // Closed when the system has taken the whole answer, or when the connection has ended.
    outgoing.on('close', turns.next);
    answer(incoming, outgoing);
  };
  /** Made once for each connection, not for each of its requests. */
  const turnsOf = (socket: Socket): Turns => {
    const turns: Turns = {
      isBusy: false,
      waiting: [],
      next() {
        const turn = socket.destroyed ? undefined : turns.waiting.shift();
        if (turn) return start(turns, turn);
        turns.isBusy = false;
        if (socket.isPaused()) socket.resume();
      },
    };
    turnsAt.set(socket, turns);
    return turns;
  };
  return (incoming, outgoing) => {
    const { socket } = incoming;
    // The rest of a read whose connection was cut.
    if (socket.destroyed) return;
    const turns = turnsAt.get(socket) ?? turnsOf(socket);
    const { waiting } = turns;
    if (!turns.isBusy) return start(turns, { incoming, outgoing });
    if (waiting.length >= waitingMax) {
      waiting.length = 0;
      socket.destroy();
      return;
    }
    waiting.push({ incoming, outgoing });
    socket.pause();
  };
}
