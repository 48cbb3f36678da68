/** The thread of `derive-ahead.ts`: derives the places that it is asked for, one message after another. */
import { parentPort, workerData } from 'node:worker_threads';
import { childAddress, type TreeLevel } from './wallets.ts';

export interface DeriveTask {
  from: number;
  count: number;
}

export interface Derived {
  from: number;
  addresses: `0x${string}`[];
}

parentPort?.on('message', ({ from, count }: DeriveTask) => {
  const addresses = Array.from({ length: count }, (_, offset) =>
    childAddress(workerData as TreeLevel, from + offset),
  );
  parentPort?.postMessage({ from, addresses } satisfies Derived);
});
