/** `rewards status`: asks each part of a stack whether it works. */
import type { HealthBody } from '../../client/bodies.ts';
import type { Client } from '../../client/create-client.ts';
import type { Reply } from '../../client/reply.ts';
import { showClock } from '../../contract/control/clock.ts';
import { listSessions } from '../../contract/control/processor.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { RunInfo } from '../../stack/run-file.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { problemOf } from '../machine/errors.ts';
import { askNode } from '../service/ask-node.ts';
import { isObject } from '../service/assignments.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import type { Style } from '../terminal/style.ts';

interface Part {
  part: 'service' | 'ledger' | 'chain' | 'identity' | 'processor' | 'site' | 'clock';
  works: boolean;
  /** What was seen, for people. */
  detail: string;
}

/** Longest wait for one part: a health check should not hang with what it checks. */
const PART_MS = 5_000;

type Asked = { client: Client; run?: RunInfo | undefined; timeoutMs: number };

/** Every part of a stack that runs here; of another service what its health tells. Throws when the service cannot be reached. */
async function askParts({ client, run, timeoutMs }: Asked): Promise<Part[]> {
  const health = await client.health();
  const parts = partsOf(health);
  if (!run) return parts;
  const within = Math.min(timeoutMs, PART_MS);
  const more = await Promise.all([
    asked('chain', () => chainOf(run, within)),
    asked('processor', () => processorOf(client)),
    asked('site', () => siteOf(run, within)),
    asked('clock', () => clockOf(client)),
  ]);
  const own = new Map(more.map((one) => [one.part, one]));
  // Both the node and what the service makes of it must work.
  const chain = parts.find(({ part }) => part === 'chain');
  return [
    ...parts.map((one) => (one.part === 'chain' && one.works ? (own.get('chain') ?? one) : one)),
    ...more.filter(({ part }) => part !== 'chain' || !chain),
  ];
}

function partsOf({ status, body }: Reply<HealthBody>): Part[] {
  if (!isObject(body) || !isObject(body.services)) {
    return [{ part: 'service', works: false, detail: `answers ${status} to the question for its health` }];
  }
  const { database, blockchain, idp } = body.services;
  const service: Part = { part: 'service', works: body.status === 'healthy', detail: String(body.status) };
  return [
    service,
    { part: 'ledger', works: database === 'connected', detail: String(database) },
    { part: 'chain', works: blockchain === 'connected', detail: String(blockchain) },
    { part: 'identity', works: idp !== 'disconnected', detail: String(idp) },
  ];
}

async function asked(part: Part['part'], ask: () => Promise<string>): Promise<Part> {
  try {
    return { part, works: true, detail: await ask() };
  } catch (error) {
    const hung = error instanceof Error && error.name === 'TimeoutError';
    const reason = error instanceof Error ? error.message : String(error);
    return { part, works: false, detail: hung ? 'did not answer in time' : reason };
  }
}

async function chainOf({ urls, chain }: RunInfo, timeoutMs: number): Promise<string> {
  const node = { url: urls.rpc, timeoutMs };
  const [id, block] = await Promise.all([
    askNode<string>(node, 'eth_chainId'),
    askNode<string>(node, 'eth_blockNumber'),
  ]);
  if (Number(id) !== chain.id) throw new Error(`is chain ${Number(id)}, not ${chain.id}`);
  return `chain ${chain.id}, block ${Number(block)}`;
}

async function processorOf({ call }: Client): Promise<string> {
  const { status, body } = await call(listSessions, { query: { status: 'open', limit: 500 } });
  if (status !== 200) throw new Error(`answers ${status}`);
  return `${body.sessions.length} open checkouts`;
}

async function siteOf({ urls }: RunInfo, timeoutMs: number): Promise<string> {
  const { status } = await fetch(urls.site, { signal: AbortSignal.timeout(timeoutMs) });
  if (status !== 200) throw new Error(`answers ${status}`);
  return urls.site;
}

async function clockOf({ call }: Client): Promise<string> {
  const { status, body } = await call(showClock);
  if (status !== 200) throw new Error(`answers ${status}`);
  const { now, frozen, offsetMs } = body;
  const ahead = `${formatDuration(Math.abs(offsetMs))} ${offsetMs > 0 ? 'ahead' : 'behind'}`;
  return [now, frozen ? 'frozen' : 'running', ...(Math.abs(offsetMs) < 1_000 ? [] : [ahead])].join(', ');
}

export const status: Handler<Record<string, never>> = async (context: CommandContext) => {
  const target = await resolveTarget(context);
  const client = clientFor(target, context);
  const parts = await askParts({ client, run: target.run, timeoutMs: context.settings.timeout });
  const { run } = target;
  const works = parts.every((part) => part.works);
  const data = {
    works,
    url: target.urls.events,
    stack: run
      ? { name: run.name ?? null, pid: run.pid, program: run.program, dataDir: run.dataDir, urls: run.urls }
      : null,
    parts,
  };
  const text = (style: Style) => partsText(data, style);
  if (works) return { ok: true, data, text };
  const failing = parts.filter((part) => !part.works);
  const error = problemOf('E_UNHEALTHY', {
    message: failing.map(({ part, detail }) => `${part}: ${detail}`).join('\n'),
    details: { parts: failing },
  });
  return { ok: false, error, data, text };
};

function partsText(
  { url, stack, parts }: { url: string; stack: { pid: number; name: string | null } | null; parts: Part[] },
  style: Style,
): string {
  const who = stack ? style.dim(`process ${stack.pid}${stack.name ? `, ${stack.name}` : ''}`) : '';
  const rows = parts.map(({ part, works, detail }) =>
    [part.padEnd(9), works ? style.green('works') : style.red('fails'), style.dim(detail)].join('  '),
  );
  return [[url, who].filter(Boolean).join('  '), ...rows].join('\n');
}
