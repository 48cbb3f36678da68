/** Tries calls out on the newest state, one after the other, without sending anything. */
import { type Hex, hexToBigInt, numberToHex } from 'viem';
import type { Rpc } from '../../rpc/rpc.ts';
import { customErrorOf, revertReason } from './relay-calldata.ts';

export interface TriedCall {
  from: Hex;
  to: Hex;
  data: Hex;
  valueWei: bigint;
  gas: bigint;
}

/** `error`: the name of the custom error of our contracts that the call reverted with, where it was one. */
export type Trial =
  | { succeeded: true; gasUsed: bigint }
  | { succeeded: false; reason: string; error?: string | undefined };

interface SimulatedBlock {
  calls: { status: Hex; gasUsed: Hex; returnData: Hex; error?: { data?: Hex } }[];
}

/** Calls one after the other; `withoutCodeOf`: an account whose code counts as removed, from here on. */
interface TrialBlock {
  calls: TriedCall[];
  withoutCodeOf?: Hex;
}

/** One request for all: what the first call changes, the second one sees. Rejects when the node gives no usable answer. */
export async function simulateCalls(rpc: Rpc, calls: TriedCall[]): Promise<Trial[]> {
  const [trials = []] = await simulateBlocks(rpc, [{ calls }]);
  return trials;
}

/** Tries one call out as it is, and then as it were if this account had no code, both on the same state of the same node. */
export async function simulateWithoutCode(
  rpc: Rpc,
  { call, account }: { call: TriedCall; account: Hex },
): Promise<{ asIs: Trial; withoutCode: Trial }> {
  // A call that reverts changes nothing, so the second trial begins where the first did.
  const [first, second] = await simulateBlocks(rpc, [
    { calls: [call] },
    { calls: [call], withoutCodeOf: account },
  ]);
  const [asIs, withoutCode] = [first?.[0], second?.[0]];
  if (!asIs || !withoutCode) throw new Error('eth_simulateV1: no answer for a call');
  return { asIs, withoutCode };
}

async function simulateBlocks(rpc: Rpc, tried: TrialBlock[]): Promise<Trial[][]> {
  const blockStateCalls = tried.map(({ calls, withoutCodeOf }) => ({
    calls: calls.map(({ from, to, data, valueWei, gas }) => ({
      from,
      to,
      data,
      value: numberToHex(valueWei),
      gas: numberToHex(gas),
    })),
    ...(withoutCodeOf && { stateOverrides: { [withoutCodeOf]: { code: '0x' } } }),
  }));
  const blocks = (await rpc('eth_simulateV1', [
    { blockStateCalls, validation: false, traceTransfers: false },
    'latest',
  ])) as SimulatedBlock[];
  return tried.map(({ calls }, place) => {
    const answers = blocks[place]?.calls ?? [];
    if (answers.length !== calls.length) throw new Error('eth_simulateV1: an answer for other calls');
    return answers.map(trialOf);
  });
}

function trialOf({ status, gasUsed, returnData, error }: SimulatedBlock['calls'][number]): Trial {
  if (status === '0x1') return { succeeded: true, gasUsed: hexToBigInt(gasUsed) };
  const data = error?.data ?? returnData;
  return { succeeded: false, reason: revertReason(data), error: customErrorOf(data) };
}
