/** A server that does nothing but answer, over a bare socket: what the load generator manages against it is the generator's ceiling. */
import { createServer } from 'node:net';

const answer =
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 16\r\n\r\n{"success":true}';

// A caller sends one small request at a time, which arrives in one piece.
const server = createServer((socket) => {
  socket.setNoDelay(true);
  socket.on('data', () => socket.write(answer));
  socket.on('error', () => socket.destroy());
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : undefined });
});
process.on('disconnect', () => process.exit());
