/** Tries out what waits, and says of each call that fails whose trouble that is. */
import type { Hex } from '../../lib/hex.ts';
import {
  type TriedCall as Call,
  simulateCalls,
  simulateWithoutCode,
  type Trial,
} from '../contracts/calls/simulate.ts';
import { type Rpc, RpcAnswerError, RpcUnreachableError } from '../rpc/rpc.ts';

/** A call that waits for a transaction; `key` names it in its queue. */
export interface TriedCall {
  key: Hex;
  to: Hex;
  data: Hex;
  gas: bigint;
  /** An account that the call gives something to, and whose own code may refuse it. */
  receiver?: Hex | undefined;
}

/**
 * runs: it may be sent · later: it fails only behind the others of this window · refused: our contracts refuse it, or no
 * node tries it out, so it waits · never: no role, cap or time makes it another answer.
 */
export type Verdict =
  | { kind: 'runs' }
  | { kind: 'later' }
  | { kind: 'refused'; reason: string }
  | { kind: 'never'; reason: string };

interface TryDeps {
  rpc: Rpc;
  /** The account that sends. */
  account: Hex;
  /** Whether a call that our contracts refuse with this error of theirs can never run. */
  neverRuns: (key: Hex, error: string) => boolean;
}

const NOT_TRIED = 'the node does not try it out';
/** Begins with words of ours: what a receiver's code says is whatever its owner wants us to read. */
export const REFUSED_BY_CODE = "the code of the user's wallet refuses it";

/** One verdict for each call. Rejects when no node answers. */
export async function tryCalls(deps: TryDeps, calls: TriedCall[]): Promise<Verdict[]> {
  const trials = await trialsOf(deps, calls);
  return Promise.all(calls.map((call, place) => verdictOn(deps, call, trials[place])));
}

const asSent = ({ account }: TryDeps, { to, data, gas }: TriedCall): Call => ({
  from: account,
  to,
  data,
  gas,
  valueWei: 0n,
});

/** All together; where a node does not take that, each by itself, so that one call does not hold up the others. */
async function trialsOf(deps: TryDeps, calls: TriedCall[]): Promise<(Trial | undefined)[]> {
  const asked = calls.map((call) => asSent(deps, call));
  try {
    return await simulateCalls(deps.rpc, asked);
  } catch (error) {
    if (!(error instanceof RpcAnswerError) || calls.length < 2) throw error;
    const trials = await Promise.all(asked.map((call) => trialAlone(deps, call)));
    if (trials.every((trial) => trial === undefined)) throw error;
    return trials;
  }
}

/** Undefined where the node refuses to try it out. */
async function trialAlone({ rpc }: TryDeps, call: Call): Promise<Trial | undefined> {
  try {
    return (await simulateCalls(rpc, [call]))[0];
  } catch (error) {
    if (error instanceof RpcAnswerError) return undefined;
    throw error;
  }
}

async function verdictOn(deps: TryDeps, call: TriedCall, trial: Trial | undefined): Promise<Verdict> {
  if (!trial) return { kind: 'refused', reason: NOT_TRIED };
  if (trial.succeeded) return { kind: 'runs' };
  return call.receiver === undefined ? byOurs(deps, call, trial) : byWhom(deps, call, call.receiver);
}

/** Of a trial in which no code but that of our contracts ran: what it says is true. */
function byOurs({ neverRuns }: TryDeps, { key }: TriedCall, trial: Trial & { succeeded: false }): Verdict {
  const { error, reason } = trial;
  return error !== undefined && neverRuns(key, error)
    ? { kind: 'never', reason }
    : { kind: 'refused', reason };
}

/**
 * What a receiver's code says proves nothing: it can return the errors of our contracts, and what the code of others in
 * the window did may be to blame too. So the call is tried out alone, as it is and as if the receiver had no code.
 */
async function byWhom(deps: TryDeps, call: TriedCall, receiver: Hex): Promise<Verdict> {
  try {
    const tried = await simulateWithoutCode(deps.rpc, { call: asSent(deps, call), account: receiver });
    const { asIs, withoutCode } = tried;
    if (!withoutCode.succeeded) return byOurs(deps, call, withoutCode);
    if (asIs.succeeded) return { kind: 'later' };
    return { kind: 'never', reason: `${REFUSED_BY_CODE} (${asIs.reason})` };
  } catch (error) {
    if (error instanceof RpcAnswerError) return { kind: 'refused', reason: NOT_TRIED };
    if (error instanceof RpcUnreachableError) return { kind: 'later' };
    throw error;
  }
}
