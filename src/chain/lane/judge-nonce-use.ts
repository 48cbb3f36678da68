/** Tells whether what has used a nonce of ours is an offer of our own transaction that the ledger has lost. */
import type { Queries } from '../../ledger/database/database.ts';
import { type FoundBytes, offersMore, signedFor } from '../../ledger/transactions/found-attempts.ts';
import type { Hex } from '../../lib/hex.ts';
import { payloadText, readAttempt } from '../contracts/calls/read-attempt.ts';
import { offerIn, type RpcTransaction, signedBytesOf } from '../rpc/signed-transaction.ts';

/** An offer of our own. */
export interface OwnOffer {
  /** What is to be stored of it; undefined where the ledger has it. */
  bytes: FoundBytes | undefined;
  kind: 'payload' | 'noop';
  hash: Hex;
  /** The ledger has a better one. */
  isOutbid: boolean;
}

/** `unreadable`: it does what ours was to do, in a form that the ledger cannot keep. */
export async function judgeNonceUse(
  db: Queries,
  { transactionId, shown }: { transactionId: string; shown: RpcTransaction },
): Promise<OwnOffer | 'other' | 'unreadable'> {
  const signed = await signedFor(db, transactionId);
  const { hash, to, value, input: data } = shown;
  const payload = payloadText({ to, value: BigInt(value), data });
  const same =
    signed.find((one) => one.hash === hash) ??
    signed.find(({ raw }) => readAttempt(raw)?.payload === payload);
  if (!same) return 'other';
  const { kind } = same;
  if (same.hash === hash) return { bytes: undefined, kind, hash, isOutbid: false };
  const raw = signedBytesOf(shown);
  if (raw === undefined) return 'unreadable';
  const bytes = { hash, raw, ...offerIn(shown) };
  return { bytes, kind, hash, isOutbid: signed.some((one) => offersMore(one, bytes)) };
}
