/** Everything around the processes under test that must survive them: chain, proxies, database, and the record of it all. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPublicClient, http, parseTransaction } from 'viem';
import type { Hex } from '../../../src/lib/hex.ts';
import type { Ready } from '../../../src/stack/ready.ts';
import { startAnvil } from '../../kits/chain/chain.ts';
import { startRpcProxy } from '../../kits/chain/rpc-proxy.ts';
import { type ClientCall, violationsOf } from './checks.ts';
import { readEvidence } from './evidence.ts';
import { type LedgerReader, readLedger } from './ledger-reader.ts';

/** The account that pays rewards: the second of the well-known development accounts. */
const LANE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const DISTRIBUTE = '0x50882ce8';

export type Stage = Awaited<ReturnType<typeof openStage>>;

/** `databaseUrl`: the checks' own way to Postgres, past any proxy; without one the ledger is a SQLite file. */
export async function openStage(options: {
  seed: number;
  blockTimeSeconds: number;
  databaseUrl?: string | undefined;
  dataDir?: string;
}) {
  const folder = await mkdtemp(join(tmpdir(), 'rewards-torture-'));
  const dataDir = options.dataDir ?? join(folder, 'data');
  const { blockTimeSeconds } = options;
  const anvil = await startAnvil([
    ...['--hardfork', 'cancun', '--gas-limit', '1000000000'],
    ...(blockTimeSeconds > 0 ? ['--block-time', String(blockTimeSeconds)] : []),
  ]);
  const notWrittenAhead: string[] = [];
  let reader: LedgerReader | undefined;
  const ledger = () => {
    reader ??= readLedger({ dataDir, databaseUrl: options.databaseUrl });
    return reader;
  };
  const proxy = await startRpcProxy({
    target: anvil.url,
    seed: options.seed,
    async onSend({ hash, raw }) {
      if (!parseTransaction(raw).data?.startsWith(DISTRIBUTE)) return;
      // A database that is down cannot be asked; the row is looked for again at the end.
      const stored = await ledger()
        .hasAttempt(hash)
        .catch(() => true);
      if (!stored) notWrittenAhead.push(hash);
    },
  });
  const node = createPublicClient({ transport: http(anvil.url) });
  const rpc = (method: string, ...params: unknown[]) =>
    node.request({ method, params } as never) as Promise<unknown>;
  const calls: ClientCall[] = [];
  const payouts = () => proxy.sent.filter(({ raw }) => parseTransaction(raw).data?.startsWith(DISTRIBUTE));

  const record = async (ready: Ready) => ({
    evidence: await readEvidence({
      rpcUrl: anvil.url,
      token: ready.contracts.token as Hex,
      escrow: ready.contracts.escrow as Hex,
      lane: LANE,
    }),
    rewards: await ledger().rewards(),
    attempts: await ledger().attempts(),
    calls,
    sent: payouts(),
    notWrittenAhead,
  });

  return {
    folder,
    dataDir,
    anvil,
    proxy,
    node,
    rpc,
    calls,
    payouts,
    ledger,
    serveArgs: [
      '--port',
      '0',
      '--rpc-url',
      proxy.url,
      '--persist-to',
      dataDir,
      '--block-time',
      String(blockTimeSeconds),
    ],
    record,
    /** Sends one event and notes what its client was told; whatever is no clear answer may have happened or not. */
    async call(base: string, user: string, headers: Record<string, string> = {}): Promise<ClientCall> {
      const made = await submit(base, user, headers);
      calls.push(made);
      return made;
    },
    /** Waits until all promises are kept on chain and known to be; returns every violation. */
    async verdict(ready: Ready, timeoutMs = 60_000): Promise<{ violations: string[]; paid: number }> {
      const giveUpAt = Date.now() + timeoutMs;
      for (;;) {
        const run = await record(ready);
        const done = new Set(
          run.attempts.filter(({ outcome }) => outcome === 'done').map((one) => one.transactionId),
        );
        const unbooked = run.rewards.filter(
          (one) => one.failure === null && !done.has(one.transactionId ?? ''),
        );
        const violations = [
          ...violationsOf(run),
          ...unbooked.map(({ sequence }) => `the ledger does not know that ${sequence} is paid`),
        ];
        if (violations.length === 0 || Date.now() > giveUpAt)
          return { violations, paid: run.evidence.paid.length };
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
    async close() {
      await reader?.close();
      await proxy.stop();
      await anvil.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const BRAND = '0xa0ee7a142d267c1f36714e4a8f75612f20a79720';

async function submit(base: string, user: string, headers: Record<string, string>): Promise<ClientCall> {
  try {
    const response = await fetch(`${base}/rewards-api/manual-event`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({
        brandId: BRAND,
        eventType: 'account_creation',
        domain: 'demo.example',
        userEmail: user,
      }),
      signal: AbortSignal.timeout(20_000),
    });
    const { status } = response;
    const body = (await response.json()) as Record<string, string>;
    if (status === 200) {
      const { eventId = '', transactionHash: hash = '', walletAddress: wallet = '' } = body;
      return { user, kind: 'ok', status, eventId, hash, wallet };
    }
    if (status >= 500) return { user, kind: 'info', status, said: JSON.stringify(body) };
    return { user, kind: 'refused', status };
  } catch {
    return { user, kind: 'info' };
  }
}
