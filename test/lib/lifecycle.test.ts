import { expect, test } from 'vitest';
import { createLifecycle } from '../../src/compose/lifecycle.ts';

function deferred() {
  let resolve = () => {};
  let reject = (_: Error) => {};
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

test('stops in reverse order, once', async () => {
  const stopped: string[] = [];
  const { start, onStop, stop } = createLifecycle();
  await start(async () => {
    for (const part of ['database', 'chain', 'server']) onStop(async () => void stopped.push(part));
  });
  await Promise.all([stop(), stop()]);
  await stop();
  expect(stopped).toEqual(['server', 'chain', 'database']);
});

test('a stop during the start also stops what starts afterwards, and only then resolves', async () => {
  const stopped: string[] = [];
  const slow = deferred();
  const { start, onStop, stop } = createLifecycle();
  const starting = start(async () => {
    onStop(async () => void stopped.push('database'));
    await slow.promise;
    onStop(async () => void stopped.push('chain'));
    return 'ready';
  });
  let over = false;
  const stopping = stop().then(() => {
    over = true;
  });
  await Promise.resolve();
  expect(stopped).toEqual(['database']);
  expect(over).toBe(false);
  slow.resolve();
  await stopping;
  expect(stopped).toEqual(['database', 'chain']);
  expect(await starting).toBe('ready');
});

test('a start that fails because it is stopped is no failure of the stop', async () => {
  const slow = deferred();
  const { start, stop } = createLifecycle();
  const starting = start(() => slow.promise);
  const stopping = stop();
  slow.reject(new Error('the database is closed'));
  await expect(starting).rejects.toThrow('the database is closed');
  await expect(stopping).resolves.toBeUndefined();
});

test('what cannot be stopped is told at the end, and keeps nothing else from stopping', async () => {
  const stopped: string[] = [];
  const { start, onStop, stop } = createLifecycle();
  await start(async () => {
    onStop(async () => void stopped.push('database'));
    onStop(() => Promise.reject(new Error('stuck')));
  });
  await expect(stop()).rejects.toThrow('not everything could be stopped cleanly');
  expect(stopped).toEqual(['database']);
});

test('does not start again', async () => {
  const { start, stop } = createLifecycle();
  await stop();
  await expect(start(async () => 1)).rejects.toThrow('a stopped service cannot be started again');
});
