/**
 * A kept connection that carries one request at a time. It speaks HTTP/1.1 over a bare socket: on a machine that
 * generator and service share, what `node:http` needs for a request would be taken from the service.
 */
import { connect, type Socket } from 'node:net';

export interface Answer {
  /** 0: the connection failed. */
  status: number;
  text: string;
}

export interface Connection {
  post(path: string, headers: string, body: string): Promise<Answer>;
  close(): void;
}

export function openConnection({ host, port }: { host: string; port: number }): Connection {
  let socket: Socket | undefined;
  let received = '';
  let answered: ((answer: Answer) => void) | undefined;
  const answer = (one: Answer) => {
    const resolve = answered;
    answered = undefined;
    received = '';
    resolve?.(one);
  };
  const lost = (from: Socket, reason: string) => {
    if (socket !== from) return;
    socket = undefined;
    answer({ status: 0, text: reason });
  };
  const opened = () => {
    const fresh = connect(port, host).setNoDelay(true).setEncoding('latin1');
    fresh.on('data', (part) => {
      received += String(part);
      const whole = answerIn(received);
      if (!whole) return;
      if (whole.isLast) socket = undefined;
      answer(whole);
    });
    fresh.on('error', (error) => lost(fresh, error.message));
    fresh.on('close', () => lost(fresh, 'the connection was closed'));
    return fresh;
  };
  return {
    post(path, headers, body) {
      socket ??= opened();
      const head = `POST ${path} HTTP/1.1\r\nhost: ${host}:${port}\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n`;
      return new Promise((resolve) => {
        answered = resolve;
        socket?.write(head + body);
      });
    },
    close() {
      const open = socket;
      socket = undefined;
      open?.destroy();
    },
  };
}

/** The answer that `received` holds, one character a byte; undefined while it is not whole. */
export function answerIn(received: string): (Answer & { isLast: boolean }) | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const head = received.slice(0, headEnd + 2).toLowerCase();
  const text = received.slice(headEnd + 4);
  const length = /\r\ncontent-length: *(\d+)\r\n/.exec(head)?.[1];
  const isWhole =
    length === undefined
      ? !head.includes('\r\ntransfer-encoding: chunked\r\n') || text.endsWith('0\r\n\r\n')
      : text.length >= Number(length);
  if (!isWhole) return undefined;
  return { status: Number(head.slice(9, 12)), text, isLast: head.includes('\r\nconnection: close\r\n') };
}
