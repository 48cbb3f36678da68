/** `contracts send`: one transaction of an operator's key, such as the one that `brand fund` prints. */
import { hashOfSigned } from '../../chain/contracts/deployment-steps.ts';
import type { Signer } from '../../chain/lane/types.ts';
import { RpcAnswerError } from '../../chain/rpc/rpc.ts';
import type { Hex } from '../../lib/hex.ts';
import type { DeployDeps } from './deploy-contracts.ts';
import { cannotGoOn } from './deployment-files.ts';

const GWEI = 1_000_000_000n;
const POLL_MS = 250;
const MINED_WITHIN_MS = 180_000;

/** Resolves when a block holds it. Throws E_DEPLOYMENT when it would fail, is refused or was reverted. */
export async function sendTransaction(
  { rpc, chain, sleep, signer }: DeployDeps & { signer: Signer },
  { to, data }: { to: Hex; data: Hex },
): Promise<{ hash: Hex; block: number }> {
  const [chainId, newest] = [await chain.chainId(), await chain.block('latest')];
  const nonce = Number(await rpc('eth_getTransactionCount', [signer.address, 'pending']));
  const gas = await rpc('eth_estimateGas', [{ from: signer.address, to, data }]).catch((error: unknown) => {
    if (!(error instanceof RpcAnswerError)) throw error;
    throw cannotGoOn(`the transaction would fail: ${error.message}`, 'nothing was sent');
  });
  const raw = await signer.signTransaction({
    type: 'eip1559',
    chainId,
    nonce,
    to,
    data,
    value: 0n,
    gas: (BigInt(gas as Hex) * 6n) / 5n,
    maxFeePerGas: (newest?.baseFeeWei ?? 0n) * 2n + GWEI,
    maxPriorityFeePerGas: GWEI,
  });
  const hash = hashOfSigned(raw);
  const outcome = await chain.sendRaw(raw);
  if (outcome.kind === 'rejected')
    throw cannotGoOn(
      `the node refuses the transaction: ${outcome.reason.replaceAll('_', ' ')}`,
      `send ${signer.address} native currency, or wait for a lower price`,
    );
  for (let waitedMs = 0; waitedMs <= MINED_WITHIN_MS; waitedMs += POLL_MS) {
    const receipt = (await rpc('eth_getTransactionReceipt', [hash])) as {
      status: Hex;
      blockNumber: Hex;
    } | null;
    if (receipt?.status === '0x1') return { hash, block: Number(receipt.blockNumber) };
    if (receipt) throw cannotGoOn(`the transaction ${hash} was reverted`, 'look at it on the chain');
    await sleep(POLL_MS);
  }
  throw cannotGoOn(
    `the transaction ${hash} is in no block after ${MINED_WITHIN_MS / 1000} s`,
    'look whether it gets into one before you send it again',
  );
}
