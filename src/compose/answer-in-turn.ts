/** Answers the requests of one connection one after the other, and reads no further while any of them waits. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { delay } from '../lib/timers.ts';

interface Turn {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
}

/** The requests of one connection. */
interface Turns {
  /** One of them is being answered. */
  isBusy: boolean;
  waiting: Turn[];
  /** More came than may wait: those that wait are the last. */
  isClosing: boolean;
  /** Begins with the next one. */
  next: () => void;
}

/**
 * One read of a socket can hold hundreds of pipelined requests, and answers that the client does not take stay in
 * memory. So a request starts when the answer before it was taken. Of a connection with more than `waitingMax` requests
 * behind the first, those are answered, the last with `Connection: close`; what came behind them was not begun, and may be
 * sent again on another connection.
 */
export function answerInTurn(
  answer: RequestListener,
  { waitingMax, lingerMs }: { waitingMax: number; lingerMs: number },
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
      isClosing: false,
      next() {
        const turn = socket.destroyed ? undefined : turns.waiting.shift();
        if (turn) return start(turns, turn);
        turns.isBusy = false;
        if (socket.isPaused() && !turns.isClosing) socket.resume();
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
    if (turns.isClosing) return;
    const { waiting } = turns;
    if (!turns.isBusy) return start(turns, { incoming, outgoing });
    if (waiting.length >= waitingMax) {
      turns.isClosing = true;
      waiting.at(-1)?.outgoing.setHeader('Connection', 'close');
      takeNoMore(socket, lingerMs);
      return;
    }
    waiting.push({ incoming, outgoing });
    socket.pause();
  };
}

/** What Node reads requests with. It keeps an answer for each one, in their order, also for those that nobody will answer. */
interface WithParser {
  parser?: { onIncoming?: (incoming: IncomingMessage) => number } | null;
}

/** Nothing more is made of what this socket brings; once the last answer is out, the other side is given time to take it. */
function takeNoMore(socket: Socket, lingerMs: number): void {
  const { parser } = socket as Socket & WithParser;
  if (parser?.onIncoming) {
    parser.onIncoming = (incoming) => {
      incoming.resume();
      return 0;
    };
  }
  // Node closes so behind the last answer. A system that closes with bytes unread has the other side drop what it has not
  // taken of its answers.
  socket.destroySoon = () => {
    socket.end();
    socket.resume();
    void delay(lingerMs).then(() => socket.destroy());
  };
}
