/** A real node for tests: a bare Anvil, the service's contracts on it, money, and blocks when a test wants them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import {
  type Hex,
  type HttpTransport,
  keccak256,
  type PublicClient,
  TransactionReceiptNotFoundError,
  toHex,
  type WalletClient,
} from 'viem';
import { pointsSaleAbi } from '../../../src/chain/contracts/abis.ts';
import { type Deployment, deployContracts } from '../../../src/chain/contracts/deploy.ts';
import { createRpc, type Rpc } from '../../../src/chain/rpc/rpc.ts';
import { settings } from '../../../src/compose/config.ts';
import { createLocalRpc } from '../../../src/emulator/chain/local-rpc.ts';
import { createStrandedWatch } from '../../../src/emulator/chain/local-stranded.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { delay, every } from '../../../src/lib/timers.ts';

export interface AnvilProcess {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** What the service's own Anvil is started with. */
export const SERVICE_CHAIN_ARGS = ['--hardfork', 'cancun', '--gas-limit', '1000000000'];

/** The binary inside the platform package, which `@foundry-rs/anvil` would start through a wrapper. */
export function anvilBinary(): string {
  const cpu = arch() === 'x64' ? 'amd64' : arch();
  const os = platform() === 'win32' ? 'win32' : platform();
  const require = createRequire(import.meta.url);
  return require.resolve(`@foundry-rs/anvil-${os}-${cpu}/bin/anvil${os === 'win32' ? '.exe' : ''}`);
}

const STRANDED_LOOK_MS = 500;

/** A shell that kills Anvil when its own input ends, and so with whoever started it. */
const GUARDED =
  'exec 3<&0; "$0" "$@" & anvil=$!; echo "pid $anvil"; (cat <&3 >/dev/null; kill -KILL $anvil) & wait $anvil';

/**
 * Starts Anvil on a free port; it outlives neither `stop` nor this process. `args` are added to its command line;
 * without any it mines each transaction at once. What it strands in its pool comes into a block all the same.
 */
export function startAnvil(args: readonly string[] = []): Promise<AnvilProcess> {
  const guard = spawn('sh', ['-c', GUARDED, anvilBinary(), '--host', '127.0.0.1', '--port', '0', ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = once(guard, 'exit');
  let endWatch = () => {};
  const stop = async () => {
    endWatch();
    guard.stdin.end();
    await ended;
  };
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const address = /Listening on (127\.0\.0\.1:\d+)/.exec(output)?.[1];
      const pid = Number(/^pid (\d+)$/m.exec(output)?.[1]);
      if (!address || !pid) return;
      for (const stream of [guard.stdout, guard.stderr]) stream.off('data', read).resume();
      const url = `http://${address}`;
      endWatch = watchStranded(url);
      resolve({ url, pid, stop });
    };
    guard.stdout.on('data', read);
    guard.stderr.on('data', read);
    guard.stdin.on('error', () => {});
    guard.once('error', reject);
    guard.once('exit', (code) => reject(new Error(`anvil exited with ${code}: ${output}`)));
  });
}

/** Returns what ends the watch; a node that is killed or stands still has its own test. */
function watchStranded(url: string): () => void {
  const { look } = createStrandedWatch({ rpc: createLocalRpc(url), log: silentLog });
  return every(STRANDED_LOOK_MS, () => void look().catch(() => {}));
}

/** A connection to a node as the service has one. */
export const rpcTo = (url: string): Rpc => createRpc({ url, ...settings.rpc });

/** The account of each duty; the first signs the deployment. */
export interface Duties {
  admin: Parameters<typeof deployContracts>[1]['admin'];
  distributor: Hex;
  operator: Hex;
  /** Administers perks, too. */
  redeemer: Hex;
  relayer: Hex;
}

/** Deploys the contracts and gives each account its role. */
export const deploy = (
  rpc: Rpc,
  { admin, distributor, operator, redeemer, relayer }: Duties,
): Promise<Deployment> =>
  deployContracts(
    { rpc, sleep: delay },
    { admin, distributor, operator, redeemer, perkAdmin: redeemer, relayers: [relayer] },
  );

/**
 * The receipt of a transaction, once it is in a block. viem's own wait asks again with the next block only, which never
 * comes when Anvil shows a block a moment before its receipts.
 */
export async function receiptOf(client: Pick<PublicClient, 'getTransactionReceipt'>, hash: Hex) {
  for (;;) {
    try {
      return await client.getTransactionReceipt({ hash });
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError)) throw error;
    }
    await delay(20);
  }
}

/** The same; rejects when it was reverted. */
export async function minedBy(client: Pick<PublicClient, 'getTransactionReceipt'>, hash: Hex) {
  const receipt = await receiptOf(client, hash);
  if (receipt.status !== 'success') throw new Error(`${hash} was reverted`);
  return receipt;
}

let deposits = 0;
/** Mints RWT into a brand's escrow, as a paid checkout would; the wallet has to be the operator's. Returns the hash of the transaction. */
export async function fundEscrow(
  of: { wallet: WalletClient<HttpTransport>; client: PublicClient; pointsSale: Hex },
  account: NonNullable<WalletClient['account']>,
  {
    brand,
    amount,
    key = keccak256(toHex(`deposit ${process.pid} ${deposits++}`)),
  }: { brand: Hex; amount: bigint; key?: Hex },
): Promise<Hex> {
  const hash = await of.wallet.writeContract({
    account,
    chain: null,
    address: of.pointsSale,
    abi: pointsSaleAbi,
    functionName: 'mintIntoEscrow',
    args: [key, brand, amount],
  });
  await minedBy(of.client, hash);
  return hash;
}
