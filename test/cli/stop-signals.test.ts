import { expect, test, vi } from 'vitest';
import type { StopSignal } from '../../src/cli/machine/context.ts';
import { catchStopSignals, interruptedBy } from '../../src/cli/terminal/stop-signals.ts';
import { delay } from '../../src/lib/timers.ts';

function sender() {
  const release = vi.fn();
  let listener: (signal: StopSignal) => void = () => {};
  const signals = catchStopSignals({
    onSignal(heard) {
      listener = heard;
      return release;
    },
  });
  return { signals, release, send: (signal: StopSignal) => listener(signal) };
}

test('a signal that npm sends once more at once is not a second one', async () => {
  const { signals, send } = sender();
  const second = vi.fn();
  void signals.second.then(second);
  send('SIGINT');
  send('SIGINT');
  expect(await signals.first).toBe('SIGINT');
  // The second promise stays open.
  await delay(120);
  expect(second).not.toHaveBeenCalled();
  send('SIGTERM');
  expect(await signals.second).toBe('SIGTERM');
});

test('the exit code says which signal it was', () => {
  expect(interruptedBy('SIGINT')).toBe(130);
  expect(interruptedBy('SIGTERM')).toBe(143);
});

test('signals can be given back', () => {
  const { signals, release } = sender();
  signals.release();
  expect(release).toHaveBeenCalledOnce();
});
