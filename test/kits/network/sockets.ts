/** Plain connections, for what no HTTP client would send. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** An open connection to a port of this machine; how it ends is for the test to look at. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** Everything that comes back until the other end closes. */
export async function exchange(port: number, text: string): Promise<string> {
  const socket = await openSocket(port);
  let answer = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    answer += chunk;
  });
  socket.write(text);
  await once(socket, 'close');
  return answer;
}
