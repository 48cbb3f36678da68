/** The checked-in artifacts and ABIs are what the Solidity sources compile to. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('artifacts and abis.ts are fresh', () => {
  const check = spawnSync(process.execPath, ['scripts/compile-contracts.js', '--check'], {
    encoding: 'utf8',
  });
  expect(check.stderr).toBe('');
  expect(check.status).toBe(0);
}, 120_000);
