/** A real name server on this machine. */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type Socket as Connection, createServer, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { decode, encode, type Packet, type Answer as Record, streamDecode, streamEncode } from 'dns-packet';

export type DnsReply =
  | { txt: string[] }
  /** What the first question for a family gets, and what every later one gets instead. */
  | { addresses: string[]; afterwards?: string[] }
  | { alias: string }
  | { code: number }
  | { silent: true }
  | { raw: Buffer };

/** How often a port that is free for packets may be taken for connections. */
const PORT_TRIES = 20;

/** A name server has one number for packets and connections; the system hands out free ones for each kind alone. */
async function onePortForBoth(): Promise<{ udp: Socket; tcp: Server; port: number }> {
  for (let tries = 1; ; tries += 1) {
    const udp = createSocket('udp4').bind(0, '127.0.0.1');
    await once(udp, 'listening');
    const { port } = udp.address();
    const tcp = createServer().listen(port, '127.0.0.1');
    try {
      await once(tcp, 'listening');
      return { udp, tcp, port };
    } catch (error) {
      udp.close();
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || tries === PORT_TRIES) throw error;
    }
  }
}

/** The addresses of the family that was asked for. */
const records = (name: string, type: string | undefined, addresses: string[]): Record[] =>
  addresses.flatMap((data): Record[] => {
    const family = data.includes(':') ? 'AAAA' : 'A';
    return type === family ? [{ name, type: family, ttl: 0, data }] : [];
  });

/** A name server whose table is changed by the tests; it notes what it was asked. */
export async function startNameServer() {
  const table = new Map<string, DnsReply>();
  const asked: string[] = [];
  /** How long replies take, and how many for one name were ever under way together. */
  const pace = { delayMs: 0, mostAtOnce: 0 };
  const underWay = new Map<string, number>();
  const answer = (query: Packet): Buffer | undefined | Packet => {
    const [question] = query.questions ?? [];
    asked.push(`${question?.type} ${question?.name}`);
    const reply = table.get(question?.name.toLowerCase() ?? '') ?? { code: 3 };
    if ('silent' in reply) return undefined;
    if ('raw' in reply) return reply.raw;
    const base: Packet = { type: 'response', id: query.id ?? 0, questions: query.questions ?? [] };
    if ('code' in reply) return { ...base, flags: reply.code };
    const name = question?.name ?? '';
    if ('alias' in reply) {
      const target = table.get(reply.alias);
      const behind =
        target && 'addresses' in target ? records(reply.alias, question?.type, target.addresses) : [];
      return { ...base, answers: [{ name, type: 'CNAME', ttl: 0, data: reply.alias }, ...behind] };
    }
    if ('addresses' in reply) {
      const before = asked.filter((one) => one === `${question?.type} ${name}`).length - 1;
      const found = before > 0 ? (reply.afterwards ?? reply.addresses) : reply.addresses;
      return { ...base, answers: records(name, question?.type, found) };
    }
    const answers: Record[] = reply.txt.map((text) => ({
      name,
      type: 'TXT',
      ttl: 0,
      // A TXT record is made of pieces of at most 255 bytes.
      data: text.match(/.{1,255}/gs) ?? [''],
    }));
    return { ...base, answers };
  };
  const onPacket = async (udp: Socket, message: Buffer, from: RemoteInfo) => {
    const query = decode(message);
    const name = query.questions?.[0]?.name ?? '';
    const reply = answer(query);
    const count = (underWay.get(name) ?? 0) + 1;
    underWay.set(name, count);
    pace.mostAtOnce = Math.max(pace.mostAtOnce, count);
    if (pace.delayMs > 0) await delay(pace.delayMs);
    underWay.set(name, (underWay.get(name) ?? 1) - 1);
    if (!reply) return;
    const bytes = Buffer.isBuffer(reply) ? reply : encode(reply);
    const truncated = { ...(Buffer.isBuffer(reply) ? {} : reply), answers: [], flags: 1 << 9 };
    udp.send(bytes.length > 512 ? encode(truncated) : bytes, from.port, from.address);
  };
  const onConnection = (socket: Connection) => {
    const chunks: Buffer[] = [];
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      const read = Buffer.concat(chunks);
      if (read.length < 2 || read.length < 2 + read.readUInt16BE(0)) return;
      const reply = answer(streamDecode(read) ?? {});
      if (reply && !Buffer.isBuffer(reply)) socket.end(streamEncode(reply));
    });
  };
  const { udp, tcp, port } = await onePortForBoth();
  udp.on('message', (message, from) => void onPacket(udp, message, from));
  tcp.on('connection', onConnection);
  return {
    table,
    asked,
    pace,
    address: `127.0.0.1:${port}`,
    async stop() {
      udp.close();
      tcp.close();
    },
  };
}
