/** A whole emulator inside the test's own process: real database, real Anvil, real HTTP. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPublicClient, http } from 'viem';
import { businessEscrowAbi, rewardTokenAbi } from '../../../src/chain/contracts/abis.ts';
import { createEmulator } from '../../../src/emulator/create-emulator.ts';
import type { Overrides, ServeConfig } from '../../../src/emulator/serve-config.ts';
import type { Hex } from '../../../src/lib/hex.ts';
import { silentLog } from '../../../src/lib/log.ts';
import type { Ready } from '../../../src/stack/ready.ts';
import { clockOf, until } from './clock.ts';

/** An answer of the service, with its body read. */
export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at bodies field by field
  body: any;
}

export type TestService = Awaited<ReturnType<typeof startTestService>>;

/** For what hangs: a client of Node's whose server is killed while it connects may wait for ever. */
const ANSWER_MS = 60_000;

/** Starts a service with the demo fixture on free ports; `change` overrides its configuration. */
export async function startTestService(change: Partial<ServeConfig & Overrides> = {}) {
  const dataDir = change.dataDir ?? (await mkdtemp(join(tmpdir(), 'rewards-test-')));
  const { crash, engine, relay, processorAt, ...asked } = change;
  const config: ServeConfig = {
    bindAddress: '127.0.0.1',
    port: 0,
    portExplicit: false,
    splitHosts: false,
    ephemeral: true,
    dataDir,
    seedFiles: [],
    frozen: false,
    rpcPort: 0,
    rpcPortExplicit: false,
    blockTimeSeconds: 0,
    log: silentLog,
    ...asked,
  };
  const emulator = await createEmulator(config, { crash, engine, relay, processorAt, watchNesting: true });
  const ready = await emulator.start().catch(async (error: unknown) => {
    await emulator.stop();
    throw error;
  });
  return {
    ...clientOf(ready),
    async stop() {
      await emulator.stop();
      if (change.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The ways to talk to a stack that is ready, in this process or another. */
export function clientOf(ready: Ready) {
  const [brand] = ready.brands;
  if (!brand) throw new Error('the stack has no brand');
  const chain = createPublicClient({ transport: http(ready.urls.rpc), pollingInterval: 50 });
  const token = ready.contracts.token as Hex;
  const escrow = ready.contracts.escrow as Hex;

  /** Asks the control API as the developer who runs the emulator, every other host as a stranger. */
  const request = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const headers = new Headers(init.headers);
    if (path.startsWith(ready.urls.control) && !headers.has('authorization'))
      headers.set('authorization', `Bearer ${ready.controlToken}`);
    const url = path.startsWith('http') ? path : `${ready.urls.events}${path}`;
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS), ...init, headers });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text.startsWith('{') ? JSON.parse(text) : text,
    };
  };
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
    });
  /** A request to the control API, as the developer who runs the emulator. */
  const control = (path: string, body: unknown) =>
    post(`${ready.urls.control}${path}`, body, { authorization: `Bearer ${ready.controlToken}` });
  /** Changes what stands at a path of the control API, such as a brand's settings. */
  const change = (path: string, settings: unknown) =>
    request(`${ready.urls.control}${path}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${ready.controlToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(settings),
    });
  return {
    ready,
    brand,
    chain,
    request,
    post,
    /** Sends one event of the demo brand. */
    event: (fields: Record<string, unknown>, headers?: Record<string, string>) =>
      post(
        '/rewards-api/manual-event',
        { brandId: brand.brandId, eventType: 'account_creation', domain: brand.domain, ...fields },
        headers,
      ),
    control,
    change,
    ...clockOf(control),
    /** Resolves when every webhook is delivered: from then on the stack changes nothing by itself. */
    atRest: () =>
      until('every webhook is delivered', async () => {
        const { body } = await request(`${ready.urls.control}/webhooks/deliveries?limit=500`);
        return body.deliveries.every(({ state }: { state: string }) => state === 'delivered');
      }),
    /** RWT of an account, straight from the chain. */
    balanceOf: (address: string) =>
      chain.readContract({
        address: token,
        abi: rewardTokenAbi,
        functionName: 'balanceOf',
        args: [address as Hex],
      }),
    escrowOf: (brandId: string) =>
      chain.readContract({
        address: escrow,
        abi: businessEscrowAbi,
        functionName: 'balanceOf',
        args: [brandId as Hex],
      }),
    isPaid: (sequence: bigint) =>
      chain.readContract({
        address: escrow,
        abi: businessEscrowAbi,
        functionName: 'isPaid',
        args: [sequence],
      }),
    /** Every transfer out of the escrow since the first block, by recipient. */
    async payouts(): Promise<Map<string, bigint[]>> {
      const logs = await chain.getContractEvents({
        address: token,
        abi: rewardTokenAbi,
        eventName: 'Transfer',
        args: { from: escrow },
        fromBlock: 0n,
      });
      const byRecipient = new Map<string, bigint[]>();
      for (const { args } of logs) {
        const to = args.to ?? '0x';
        byRecipient.set(to, [...(byRecipient.get(to) ?? []), args.value ?? 0n]);
      }
      return byRecipient;
    },
  };
}

let people = 0;
/** An e-mail that no test has used before. */
export const someone = () => `someone-${process.pid}-${++people}@people.example`;
