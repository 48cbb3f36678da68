/** A service of this process with a node of its own and a proxy between them that can do the node's worst. */
import { createPublicClient, type Hex, http } from 'viem';
import { expect } from 'vitest';
import { keyTree } from '../../src/chain/lane/local-key.ts';
import type { EngineOverrides } from '../../src/compose/config.ts';
import type { Overrides, ServeConfig } from '../../src/emulator/serve-config.ts';
import { DEV_MNEMONIC, devPaths } from '../../src/lib/development.ts';
import type { Log, LogFields } from '../../src/lib/log.ts';
import { SERVICE_CHAIN_ARGS, startAnvil } from '../kits/chain/chain.ts';
import { startRpcProxy } from '../kits/chain/rpc-proxy.ts';
import { startTestService } from '../kits/service/service.ts';
import { type ClientCall, type RunRecord, violationsOf } from '../reliability/processes/checks.ts';
import { readEvidence } from '../reliability/processes/evidence.ts';
import { type LedgerReader, readLedger } from '../reliability/processes/ledger-reader.ts';

/** Patience of milliseconds, so that tests need not wait for seconds; a block that is kept back is not looked for two hundred times a second. */
export const impatient: EngineOverrides = {
  lane: { resendAfterMs: 300, bumpAfterMs: 1_500 },
  follow: { busyPollMs: 25 },
};

export const payoutSigner = keyTree(DEV_MNEMONIC).signerAt(devPaths.payout);

export type EngineKit = Awaited<ReturnType<typeof startEngineKit>>;

export async function startEngineKit(
  options: { blockTimeSeconds?: number; config?: Partial<ServeConfig & Overrides>; seed?: number } = {},
) {
  const { blockTimeSeconds = 0, config = {}, seed = 1 } = options;
  const anvil = await startAnvil([
    ...SERVICE_CHAIN_ARGS,
    ...(blockTimeSeconds > 0 ? ['--block-time', String(blockTimeSeconds)] : []),
  ]);
  let reader: LedgerReader | undefined;
  const notWrittenAhead: string[] = [];
  const proxy = await startRpcProxy({
    target: anvil.url,
    seed,
    async onSend({ hash, raw }) {
      if (reader && !(await reader.hasAttempt(hash)) && !foreign.has(raw)) notWrittenAhead.push(hash);
    },
  });
  const foreign = new Set<Hex>();
  const logged: ({ message: string } & LogFields)[] = [];
  const note = (fields: LogFields, message: string) => void logged.push({ ...fields, message });
  const log: Log = { debug: () => {}, info: note, warn: note, error: note };
  const service = await startTestService({
    rpcUrl: proxy.url,
    blockTimeSeconds,
    log,
    engine: impatient,
    ...config,
  }).catch(async (error: unknown) => {
    await proxy.stop();
    await anvil.stop();
    throw error;
  });
  const { ready } = service;
  reader = readLedger({ dataDir: ready.dataDir, databaseUrl: config.databaseUrl });
  const ledger = reader;
  const node = createPublicClient({ transport: http(anvil.url), pollingInterval: 20 });
  const rpc = (method: string, ...params: unknown[]) =>
    node.request({ method, params } as never) as Promise<unknown>;
  const calls: ClientCall[] = [];
  let mining: NodeJS.Timeout | undefined;
  const evidence = () =>
    readEvidence({
      rpcUrl: anvil.url,
      token: ready.contracts.token as Hex,
      escrow: ready.contracts.escrow as Hex,
      lane: payoutSigner.address,
    });
  const record = async (): Promise<RunRecord> => ({
    evidence: await evidence(),
    rewards: await ledger.rewards(),
    attempts: await ledger.attempts(),
    calls,
    sent: proxy.sent,
    notWrittenAhead,
  });

  return {
    ...service,
    anvil,
    proxy,
    node,
    rpc,
    ledger,
    calls,
    logged,
    /** Alarms that were raised, by code. */
    alarms: () => logged.filter(({ message }) => message === 'alarm').map(({ alarm }) => String(alarm)),
    alarmsOver: () =>
      logged.filter(({ message }) => message === 'alarm is over').map(({ alarm }) => String(alarm)),
    /** Sends an event for each user and notes what its client was told. */
    async pay(users: string[], fields: Record<string, unknown> = {}): Promise<ClientCall[]> {
      const made = await Promise.all(users.map((user) => submit(service, user, fields)));
      calls.push(...made);
      return made;
    },
    evidence,
    record,
    violations: async () => violationsOf(await record()),
    /** Waits until the chain has paid whatever the ledger promised, and the ledger knows it. */
    async drained(timeoutMs = 25_000): Promise<void> {
      const giveUpAt = Date.now() + timeoutMs;
      for (;;) {
        const paid = new Set((await evidence()).paid.map(({ sequence }) => sequence));
        const attempts = await ledger.attempts();
        const done = new Set(
          attempts.filter(({ outcome }) => outcome === 'done').map((one) => one.transactionId),
        );
        const rewards = (await ledger.rewards()).filter(({ failure }) => failure === null);
        const unpaid = rewards.filter(({ sequence }) => !paid.has(sequence)).length;
        const unknown = rewards.filter(({ transactionId }) => !done.has(transactionId ?? '')).length;
        if (unpaid + unknown === 0) return;
        if (Date.now() > giveUpAt) {
          const pool = JSON.stringify(await rpc('txpool_status'));
          const head = await node.getBlockNumber();
          throw new Error(
            `after ${timeoutMs} ms ${unpaid} rewards are not paid, ${unknown} not known to be; head ${head}, pool ${pool}`,
          );
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    async mine(blocks = 1): Promise<void> {
      for (let n = 0; n < blocks; n++) await rpc('evm_mine');
    },
    /** A block now and then until the end, on a node that mines no more by itself. */
    keepMining(): void {
      mining ??= setInterval(() => void rpc('evm_mine').catch(() => undefined), 400);
    },
    /** Signs as the lane does, past the service. */
    async signForeign(change: { nonce: number; to?: Hex; feeWei?: bigint }): Promise<Hex> {
      const raw = await payoutSigner.signTransaction({
        type: 'eip1559',
        chainId: ready.chain.id,
        nonce: change.nonce,
        to: change.to ?? payoutSigner.address,
        value: 0n,
        gas: 21_000n,
        maxFeePerGas: change.feeWei ?? 50n * 10n ** 9n,
        maxPriorityFeePerGas: 2n * 10n ** 9n,
      });
      foreign.add(raw);
      return raw;
    },
    laneNonce: () => node.getTransactionCount({ address: payoutSigner.address }),
    async stop() {
      clearInterval(mining);
      proxy.heal();
      await service.stop();
      await ledger.close();
      await proxy.stop();
      await anvil.stop();
    },
  };
}

async function submit(
  service: Awaited<ReturnType<typeof startTestService>>,
  user: string,
  fields: Record<string, unknown>,
): Promise<ClientCall> {
  try {
    const { status, body } = await service.event({ userEmail: user, ...fields });
    if (status === 200) {
      return {
        user,
        kind: 'ok',
        status,
        eventId: body.eventId,
        hash: body.transactionHash,
        wallet: body.walletAddress,
      };
    }
    return { user, kind: status >= 500 ? 'info' : 'refused', status };
  } catch {
    return { user, kind: 'info' };
  }
}

/** An expectation that comes true by itself; the machine may be busy with other tests. */
export const eventually = <T>(look: () => T) => expect.poll(look, { timeout: 20_000 });

let people = 0;
/** E-mails that no test has used before. */
export const crowd = (count: number) =>
  Array.from({ length: count }, () => `u${process.pid}-${++people}@people.example`);
