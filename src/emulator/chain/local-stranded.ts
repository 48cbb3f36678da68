/**
 * Brings transactions into blocks that Anvil has stranded. It looks up an account's nonce, and then adds a transaction that
 * waits for the one before it; when the block of that one comes between the two, it waits for ever, and so does all that
 * follows: on a busy machine, one of some thousand batches of twelve where each transaction has a block at once.
 */
import { type Hex, hexToNumber } from 'viem';
import { RpcAnswerError } from '../../chain/rpc/rpc.ts';
import type { Log } from '../../lib/log.ts';
import { stopwatch } from '../../lib/timers.ts';
import type { LocalRpc } from './local-rpc.ts';

/** Callers wait 15 seconds and more for a block, and an idle chain gets one request more a second. */
const LOOK_MS = 1_000;

type OfAccounts = Record<Hex, Record<string, { hash: Hex; nonce: Hex }>>;
interface Pool {
  pending: OfAccounts;
  queued: OfAccounts;
}

export function createStrandedWatch({ rpc, log }: { rpc: LocalRpc; log: Log }) {
  let sinceMs = stopwatch();
  /** The transactions of the last look: a block under way may be just about to take them up. */
  let before = new Set<Hex>();

  /** Accounts and the transaction of each that waits for an earlier one, though it is the account's next. */
  async function findStranded(): Promise<{ account: Hex; hash: Hex }[]> {
    const { queued } = (await rpc.call('txpool_status', [])) as { queued: Hex };
    if (hexToNumber(queued) === 0) return [];
    const pool = (await rpc.call('txpool_content', [])) as Pool;
    const accounts = Object.keys(pool.queued) as Hex[];
    const nonces = (await rpc.all(
      accounts.map((account) => ({ method: 'eth_getTransactionCount', params: [account, 'latest'] })),
    )) as Hex[];
    return accounts.flatMap((account, place) =>
      Object.values(pool.queued[account] ?? {})
        .filter(({ nonce }) => nonce === nonces[place])
        .map(({ hash }) => ({ account, hash })),
    );
  }

  /** All of the account's, since Anvil takes single ones out of its pool only when they wait for nothing. */
  async function offerAgain(account: Hex): Promise<void> {
    const pool = (await rpc.call('txpool_content', [])) as Pool;
    const waiting = [pool.pending, pool.queued].flatMap((of) => Object.values(of[account] ?? {}));
    const inOrder = waiting.sort((a, b) => hexToNumber(a.nonce) - hexToNumber(b.nonce));
    const raws = await rpc.all(
      inOrder.map(({ hash }) => ({ method: 'eth_getRawTransactionByHash', params: [hash] })),
    );
    await rpc.call('anvil_removePoolTransactions', [account]);
    let taken = 0;
    for (const raw of raws) {
      try {
        await rpc.call('eth_sendRawTransaction', [raw]);
        taken += 1;
      } catch (error) {
        // Either a block has it by now, or it was sent from an impersonated account and cannot be signed again.
        if (!(error instanceof RpcAnswerError)) throw error;
        log.debug({ account, why: error.message }, 'a stranded transaction was not taken again');
      }
    }
    log.info({ account, taken, of: raws.length }, 'the local chain had stranded transactions; offered again');
  }

  return {
    /** To be called often: looks at the pool once a second, and offers again what two looks in a row find. */
    async look(): Promise<void> {
      if (sinceMs() < LOOK_MS) return;
      sinceMs = stopwatch();
      const found = await findStranded();
      const stranded = found.filter(({ hash }) => before.has(hash));
      before = new Set(found.map(({ hash }) => hash));
      for (const { account } of stranded) await offerAgain(account);
    },
  };
}
