/** Tries calls out on the newest state, one after the other, without sending anything. */
import { type Hex, hexToBigInt, numberToHex } from 'viem';
import type { Rpc } from '../../rpc/rpc.ts';
import { revertReason } from './relay-calldata.ts';

export interface TriedCall {
  from: Hex;
  to: Hex;
  data: Hex;
  valueWei: bigint;
  gas: bigint;
}

type Trial = { succeeded: true; gasUsed: bigint } | { succeeded: false; reason: string };

interface SimulatedBlock {
  calls: { status: Hex; gasUsed: Hex; returnData: Hex; error?: { data?: Hex } }[];
}

/** One request for all: what the first call changes, the second one sees. Rejects when the node gives no usable answer. */
export async function simulateCalls(rpc: Rpc, calls: TriedCall[]): Promise<Trial[]> {
  const asked = calls.map(({ from, to, data, valueWei, gas }) => ({
    from,
    to,
    data,
    value: numberToHex(valueWei),
    gas: numberToHex(gas),
  }));
  const blocks = (await rpc('eth_simulateV1', [
    { blockStateCalls: [{ calls: asked }], validation: false, traceTransfers: false },
    'latest',
  ])) as SimulatedBlock[];
  const answers = blocks[0]?.calls ?? [];
  if (answers.length !== calls.length) throw new Error('eth_simulateV1: an answer for other calls');
  return answers.map(({ status, gasUsed, returnData, error }) =>
    status === '0x1'
      ? { succeeded: true, gasUsed: hexToBigInt(gasUsed) }
      : { succeeded: false, reason: revertReason(error?.data ?? returnData) },
  );
}
