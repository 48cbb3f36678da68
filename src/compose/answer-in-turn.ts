/** Answers the requests of one connection one after the other, and reads no further while any of them waits. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Turn {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
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
  const waitingAt = new WeakMap<Socket, Turn[]>();

  const start = (socket: Socket, { incoming, outgoing }: Turn) => {
    // Closed when the system has taken the whole answer, or when the connection has ended.
    outgoing.once('close', () => next(socket));
    answer(incoming, outgoing);
  };
  const next = (socket: Socket) => {
    const turn = socket.destroyed ? undefined : waitingAt.get(socket)?.shift();
    if (turn) return start(socket, turn);
    waitingAt.delete(socket);
    socket.resume();
  };
  return (incoming, outgoing) => {
    const { socket } = incoming;
    // The rest of a read whose connection was cut.
    if (socket.destroyed) return;
    const waiting = waitingAt.get(socket);
    if (!waiting) {
      waitingAt.set(socket, []);
      start(socket, { incoming, outgoing });
      return;
    }
    if (waiting.length >= waitingMax) {
      waiting.length = 0;
      socket.destroy();
      return;
    }
    waiting.push({ incoming, outgoing });
    socket.pause();
  };
}
