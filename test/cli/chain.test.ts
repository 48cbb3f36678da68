/** `rewards chain` against a real stack: what is on chain, in words. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAnvil } from '../kits/chain/chain.ts';
import { rewards, rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';

let stack: Awaited<ReturnType<typeof serveHere>>;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
const json = (...args: string[]) => rewardsJson(args, { cwd: project.path });
const plain = (...args: string[]) => rewards(args, { cwd: project.path });
beforeAll(async () => {
  project = await temporaryDirectory();
  stack = await serveHere(['--port', '0'], { cwd: project.path });
}, 60_000);
afterAll(async () => {
  await stack.stop();
  await project.remove();
});

test('a reward is found in its block, and its transaction says whom it pays', async () => {
  const sent = await json('send-event', 'referral', '--user', 'alice@demo.example');
  const { transactionHash, rewardAmount, walletAddress } = sent.envelope.data.body;
  const { blocks, head } = (await json('chain', 'blocks')).envelope.data.body;
  expect(blocks[0].number).toBe(head);
  const rows = blocks.flatMap((one: { transactions: { hash: string }[] }) => one.transactions);
  expect(rows.find((one: { hash: string }) => one.hash === transactionHash)).toMatchObject({
    contract: 'escrow',
    call: 'distributePacked(bytes)',
    state: 'done',
    lane: 'payout',
    payouts: 1,
  });
  const shown = (await json('chain', 'transaction', transactionHash)).envelope.data.body;
  expect(shown).toMatchObject({
    ledger: { purpose: 'payout', outcome: 'done' },
    block: { number: expect.any(Number) },
  });
  expect(shown.payouts.shown).toEqual([
    expect.objectContaining({ to: walletAddress.toLowerCase(), amount: String(rewardAmount) }),
  ]);
  const transfer = shown.logs.shown.find(({ event }: { event: string }) => event === 'Transfer');
  expect(transfer).toMatchObject({
    contract: 'token',
    args: [
      { name: 'from', value: stack.ready.contracts.escrow },
      { name: 'to', value: walletAddress },
      { name: 'value', value: String(rewardAmount) },
    ],
  });
  const text = (await plain('chain', 'transaction', transactionHash)).stdout;
  expect(text).toContain(`${rewardAmount} RWT to ${walletAddress.toLowerCase()}`);

  const older = (await json('chain', 'blocks', '--before', String(head), '--limit', '1')).envelope.data.body;
  expect(older.blocks.map(({ number }: { number: number }) => number)).toEqual([head - 1]);
});

test('a block of many transactions is read whole, part by part', async () => {
  const rpc = async (method: string, params: unknown[] = []) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(stack.ready.urls.rpc, { method: 'POST', headers, body });
    return JSON.parse(await answer.text()).result;
  };
  const [from] = await rpc('eth_accounts');
  await rpc('evm_setAutomine', [false]);
  for (let sent = 0; sent < 25; sent++)
    await rpc('eth_sendTransaction', [{ from, to: from, value: `0x${sent.toString(16)}` }]);
  await rpc('anvil_mine', ['0x1']);
  await rpc('evm_setAutomine', [true]);
  const { head, blocks } = (await json('chain', 'blocks', '--limit', '1')).envelope.data.body;
  expect([blocks[0].count, blocks[0].transactions.length]).toEqual([25, 20]);
  const part = async (...more: string[]) =>
    (await json('chain', 'block', String(head), ...more)).envelope.data.body;
  const hashes = ({ transactions }: { transactions: { hash: string }[] }) =>
    transactions.map(({ hash }) => hash);
  const whole = await part();
  expect([whole.number, whole.count, new Set(hashes(whole)).size]).toEqual([head, 25, 25]);
  const parts = [await part('--limit', '20'), await part('--from', '20', '--limit', '20')];
  expect(parts.flatMap(hashes)).toEqual(hashes(whole));
  expect(hashes(await part('--from', '25'))).toEqual([]);
  const ahead = await json('chain', 'block', String(head + 1));
  expect(ahead.envelope.error.message).toContain(`There is no block ${head + 1} yet: the newest is ${head}`);
});

test('contracts, accounts and supply are those of the stack', async () => {
  const { contracts, accounts, token } = (await json('chain', 'show')).envelope.data.body;
  expect(
    Object.fromEntries(contracts.map((one: { name: string; address: string }) => [one.name, one.address])),
  ).toEqual(stack.ready.contracts);
  expect(accounts.some(({ is }: { is: string }) => is.includes('payout lane'))).toBe(true);
  expect(Number(token.supply)).toBe(token.ledgerMinted);
});

test('what is no transaction is said in words; a fault of the node strikes the service, not who looks at the chain', async () => {
  const none = await json('chain', 'transaction', `0x${'0'.repeat(64)}`);
  expect(none.envelope.error.message).toContain('No transaction 0x0');
  const wrong = await json('chain', 'transaction', '0x12');
  expect(JSON.stringify(wrong.envelope.error)).toContain('64 hex digits');
  await json('faults', 'set', 'node=away');
  expect((await json('chain', 'show')).code).toBe(0);
  await json('faults', 'clear');
});

test('a node that hangs and one that is away are said in words, and the rest of the stack answers', async () => {
  const cwd = join(project.path, 'elsewhere');
  await mkdir(cwd);
  const anvil = await startAnvil();
  const other = await serveHere(['--port', '0', '--rpc-url', anvil.url], { cwd });
  const ask = (...args: string[]) => rewardsJson(args, { cwd });
  process.kill(anvil.pid, 'SIGSTOP');
  expect((await ask('chain', 'show')).envelope.error.message).toContain(
    'The node does not answer: no answer in 4 seconds',
  );
  expect((await ask('clock', 'show')).code).toBe(0);
  process.kill(anvil.pid, 'SIGKILL');
  for (const args of [['show'], ['blocks'], ['transaction', `0x${'0'.repeat(64)}`]]) {
    const away = await ask('chain', ...args);
    expect([args[0], away.envelope.error.message]).toEqual([
      args[0],
      expect.stringContaining('The node does not answer'),
    ]);
  }
  await other.stop();
});
