/** The board of faults: which use each of them strikes, and when it is over. */
import { expect, test } from 'vitest';
import { createFaultRegistry, type FaultEnd, nameOf } from '../../../src/emulator/faults/fault-registry.ts';
import { adjustableClock } from '../../../src/lib/clock.ts';
import { settled } from '../../kits/service/clock.ts';

const LIMITS = {
  faultsMax: 3,
  timesMax: 100,
  slowMaxMs: 60_000,
  spanMaxMs: 86_400_000,
  forMaxMs: 86_400_000,
};

function open() {
  const clock = adjustableClock({ startMs: Date.UTC(2030, 0, 1), frozen: true });
  const told: string[] = [];
  const board = createFaultRegistry(
    {
      clock,
      listeners: [
        {
          set: (fault) => told.push(`set ${nameOf(fault)}`),
          over: (fault, end: FaultEnd) => told.push(`over ${nameOf(fault)} ${end}`),
        },
      ],
    },
    LIMITS,
  );
  return { clock, told, board };
}

test('a fault strikes as often as it was asked for, and then is over by itself', () => {
  const { board, told } = open();
  expect(board.strike('node', ['away'])).toBeUndefined();
  expect(board.set({ seam: 'node', times: 2 })).toMatchObject({
    id: 'fault-1',
    written: 'away',
    timesLeft: 2,
  });
  expect(board.strike('node', ['slow'])).toBeUndefined();
  expect(board.strike('node', ['slow', 'away'])).toMatchObject({ effect: 'away', struck: 1, timesLeft: 1 });
  expect(board.list()).toMatchObject([{ id: 'fault-1', timesLeft: 1 }]);
  expect(board.strike('node', ['away'])?.effect).toBe('away');
  expect(board.strike('node', ['away'])).toBeUndefined();
  expect(board.list()).toEqual([]);
  expect(told).toEqual(['set node=away', 'over node=away times']);
});

test('a fault for a time is over when the clock has passed it, used or not', async () => {
  const { board, clock, told } = open();
  board.set({ seam: 'node', effect: 'slow:300ms', for: '10m' });
  clock.advance(599_999);
  expect(board.strike('node', ['slow'])).toMatchObject({ amount: 300, struck: 1 });
  clock.advance(1);
  await settled();
  expect(told).toEqual(['set node=slow:300ms', 'over node=slow:300ms time']);
  expect(board.list()).toEqual([]);
});

test('of several faults the oldest strikes, and each is cleared by id, by seam, or with all others', () => {
  const { board, told } = open();
  for (const effect of ['away', 'refused', 'slow:1s']) board.set({ seam: 'node', effect });
  expect(board.strike('node', ['refused', 'away'])?.id).toBe('fault-1');
  expect(board.set({ seam: 'node' })).toEqual({
    problems: [{ setting: 'seam', message: 'is one too many: 3 faults are set. Clear one first' }],
  });
  expect(board.clear('fault-1').map(nameOf)).toEqual(['node=away']);
  expect(board.clear('fault-1')).toEqual([]);
  expect(board.clear('node').map(nameOf)).toEqual(['node=refused', 'node=slow:1s']);
  expect(told.filter((line) => line.startsWith('over'))).toEqual([
    'over node=away cleared',
    'over node=refused cleared',
    'over node=slow:1s cleared',
  ]);
});

test('a wish that cannot be meant is refused with what could be', () => {
  const { board } = open();
  const problem = (wish: Parameters<typeof board.set>[0]) => {
    const set = board.set(wish);
    return 'problems' in set ? set.problems.map(({ setting, message }) => `${setting} ${message}`) : set;
  };
  expect(problem({ seam: 'nod' })).toEqual([
    expect.stringMatching(/^seam must be one of node.*, not "nod": did you mean node\?$/),
  ]);
  expect(problem({ seam: 'node', effect: 'awy' })).toEqual([
    expect.stringMatching(/^effect must be one of away, .*slow:300ms.*, not "awy": did you mean away\?$/),
  ]);
  expect(problem({ seam: 'constructor' })).toEqual([expect.stringContaining('not "constructor"')]);
  expect(problem({ seam: 'node', effect: 'toString' })).toEqual([expect.stringContaining('not "toString"')]);
  expect(problem({ seam: 'node', effect: 'away:3s' })).toEqual(['effect away takes nothing after a colon']);
  expect(problem({ seam: 'node', effect: 'slow' })).toEqual([
    'effect slow needs a duration, such as slow:300ms',
  ]);
  expect(problem({ seam: 'node', effect: 'slow:2m' })).toEqual(['effect slow takes at most 1m']);
  expect(problem({ seam: 'node', times: 0, for: 'soon' })).toEqual([
    'times must be a whole number from 1 to 100',
    'for must be a duration such as 10m, up to 1d',
  ]);
  expect(board.list()).toEqual([]);
});
