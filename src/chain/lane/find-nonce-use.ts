/** Finds the block and the transaction that have used a nonce of an account. */
import type { Hex } from '../../lib/hex.ts';
import type { ChainClient } from '../rpc/client.ts';
import { isRpcError, RpcAnswerError } from '../rpc/rpc.ts';
import type { RpcTransaction } from '../rpc/signed-transaction.ts';

/** What has used a nonce. */
export interface NonceUse {
  shown: RpcTransaction;
  block: { number: number; hash: Hex };
}

type AskedChain = Pick<ChainClient, 'nonce' | 'transactionsIn'>;

/**
 * `usedBy`: a block in which the nonce is used, however long before. Asks ever further back for the account's nonce, then
 * halves what is left, so that a node needs the state of old blocks for old uses alone: of a chain with a billion blocks some
 * 60 questions at most. Undefined when no node can tell: it lacks the state or a block, gives no answer, or the chain changed
 * between two of them.
 */
export async function findNonceUse(
  chain: AskedChain,
  of: { lane: Hex; nonce: number; usedBy: number },
): Promise<NonceUse | undefined> {
  try {
    const number = await firstWithUse(chain, of);
    const block = await chain.transactionsIn(number);
    const shown = block?.transactions.find(
      ({ from, nonce }) => from.toLowerCase() === of.lane.toLowerCase() && Number(nonce) === of.nonce,
    );
    return block && shown && { shown, block: { number, hash: block.hash } };
  } catch (error) {
    if (isRpcError(error)) return undefined;
    throw error;
  }
}

/** The first block after which the account's next nonce is beyond this one. */
async function firstWithUse(
  chain: AskedChain,
  { lane, nonce, usedBy }: { lane: Hex; nonce: number; usedBy: number },
): Promise<number> {
  const isUsedIn = async (block: number) => block >= 0 && (await chain.nonce(lane, block)) > nonce;
  let used = usedBy;
  let step = 1;
  let isLongEnough = false;
  for (;;) {
    const isUsed = await isUsedIn(used - step).catch((error: unknown) => {
      // Too far back for this node: the use may be nearer.
      if (!(error instanceof RpcAnswerError) || step === 1) throw error;
      return undefined;
    });
    if (isUsed === false) break;
    if (isUsed) used -= step;
    isLongEnough ||= isUsed === undefined;
    step = isUsed === undefined ? Math.floor(step / 2) : isLongEnough ? step : step * 2;
  }
  let unused = used - step;
  while (used - unused > 1) {
    const middle = Math.floor((used + unused) / 2);
    if (await isUsedIn(middle)) used = middle;
    else unused = middle;
  }
  return used;
}
