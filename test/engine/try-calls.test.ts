/** Whose trouble it is when a call that gives something to somebody fails: what a receiver's code says proves nothing. */
import { encodeErrorResult, type Hex } from 'viem';
import { expect, test } from 'vitest';
import { contractErrorsAbi } from '../../src/chain/contracts/abis.ts';
import { type Rpc, RpcAnswerError, RpcUnreachableError } from '../../src/chain/rpc/rpc.ts';
import { REFUSED_BY_CODE, type TriedCall, tryCalls } from '../../src/chain/work/try-calls.ts';
import { freshAddress, freshHash } from '../kits/databases/databases.ts';

const account = freshAddress();
const soldOut = encodeErrorResult({ abi: contractErrorsAbi, errorName: 'PerkSoldOut', args: [7n] });
const noRole = encodeErrorResult({
  abi: contractErrorsAbi,
  errorName: 'AccessControlUnauthorizedAccount',
  args: [account, freshHash()],
});
const text = encodeErrorResult({
  abi: [{ type: 'error', name: 'Error', inputs: [{ type: 'string', name: '' }] }],
  errorName: 'Error',
  args: ['PerkSoldOut(7)'],
});

type Said = Hex | 'runs' | 'answers with an error' | 'is away';
/** What the node says of a call: with the others, alone, and alone without the receiver's code. */
interface Scripted {
  together?: Said;
  alone?: Said;
  withoutCode?: Said;
}

function nodeOf(script: Map<Hex, Scripted>) {
  const asked: number[] = [];
  const answer = (said: Said = 'runs') => {
    if (said === 'answers with an error')
      throw new RpcAnswerError('eth_simulateV1', { code: -32_000, message: 'no' });
    if (said === 'is away') throw new RpcUnreachableError('eth_simulateV1', 'no answer');
    return said === 'runs'
      ? { status: '0x1', gasUsed: '0x1', returnData: '0x' }
      : { status: '0x0', gasUsed: '0x1', returnData: said };
  };
  const rpc: Rpc = async (_, [of]) => {
    const { blockStateCalls } = of as {
      blockStateCalls: { calls: { data: Hex }[]; stateOverrides?: Record<Hex, { code: Hex }> }[];
    };
    const [first, second] = blockStateCalls;
    asked.push(first?.calls.length ?? 0);
    if (second && first?.calls.length === 1) {
      const { alone, withoutCode } = script.get(second.calls[0]?.data ?? '0x') ?? {};
      expect(Object.values(second.stateOverrides ?? {})).toEqual([{ code: '0x' }]);
      return [{ calls: [answer(alone)] }, { calls: [answer(withoutCode)] }];
    }
    return [{ calls: first?.calls.map(({ data }) => answer(script.get(data)?.together)) }];
  };
  return { rpc, asked };
}

const callOf = (receiver?: Hex): TriedCall => {
  const key = freshHash();
  return { key, to: freshAddress(), data: key, gas: 1n, receiver };
};
const neverRuns = (_: Hex, error: string) => error === 'PerkSoldOut';

test.each<[string, Scripted, object]>([
  ['runs', {}, { kind: 'runs' }],
  [
    'its receiver’s code refuses, in any words',
    { together: noRole, alone: noRole },
    {
      kind: 'never',
      reason: expect.stringContaining(`${REFUSED_BY_CODE} (AccessControlUnauthorizedAccount`),
    },
  ],
  [
    'its receiver’s code refuses, without any',
    { together: '0x', alone: '0x' },
    { kind: 'never', reason: `${REFUSED_BY_CODE} (reverted without a reason)` },
  ],
  [
    'our contracts refuse it for now, whatever the receiver’s code says',
    { together: soldOut, alone: soldOut, withoutCode: noRole },
    { kind: 'refused', reason: expect.stringContaining('AccessControlUnauthorizedAccount') },
  ],
  [
    'our contracts refuse it for good',
    { together: soldOut, alone: soldOut, withoutCode: soldOut },
    { kind: 'never', reason: 'PerkSoldOut(7)' },
  ],
  [
    'a text that only sounds like an error of ours waits',
    { together: text, alone: text, withoutCode: text },
    { kind: 'refused', reason: 'PerkSoldOut(7)' },
  ],
  ['it fails only behind the others', { together: soldOut }, { kind: 'later' }],
  [
    'no node tries it out alone',
    { together: soldOut, alone: 'answers with an error' },
    { kind: 'refused', reason: expect.stringContaining('does not try it out') },
  ],
  ['the node is away for the second question', { together: soldOut, alone: 'is away' }, { kind: 'later' }],
])('%s', async (_, scripted, verdict) => {
  const call = callOf(freshAddress());
  const { rpc } = nodeOf(new Map([[call.data, scripted]]));
  expect(await tryCalls({ rpc, account, neverRuns }, [call])).toEqual([verdict]);
});

test('without a receiver, what our contracts say is believed, and asked once', async () => {
  const [waits, never] = [callOf(), callOf()];
  const script = new Map([
    [waits.data, { together: noRole }],
    [never.data, { together: soldOut }],
  ]);
  const { rpc, asked } = nodeOf(script);
  const verdicts = await tryCalls({ rpc, account, neverRuns }, [waits, never]);
  expect(verdicts.map(({ kind }) => kind)).toEqual(['refused', 'never']);
  expect(asked).toEqual([2]);
});

test('a call that a node does not try out at all holds up no other', async () => {
  const [poison, good] = [callOf(), callOf()];
  const script = new Map<Hex, Scripted>([[poison.data, { together: 'answers with an error' }]]);
  const { rpc, asked } = nodeOf(script);
  expect(await tryCalls({ rpc, account, neverRuns }, [poison, good])).toEqual([
    { kind: 'refused', reason: expect.stringContaining('does not try it out') },
    { kind: 'runs' },
  ]);
  expect(asked).toEqual([2, 1, 1]);
  // Where it tries out nothing, that is the node's trouble.
  script.set(good.data, { together: 'answers with an error' });
  await expect(tryCalls({ rpc, account, neverRuns }, [poison, good])).rejects.toThrow(RpcAnswerError);
});
