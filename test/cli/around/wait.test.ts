/** `rewards wait` against a real stack: each condition, before and after it holds. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/cli/machine/exit-codes.ts';
import {
  rewards,
  rewardsJson,
  rewardsProcess,
  serveHere,
  startProcess,
  temporaryDirectory,
} from '../../kits/service/cli.ts';

let project: Awaited<ReturnType<typeof temporaryDirectory>>;
let stack: Awaited<ReturnType<typeof serveHere>>;
beforeAll(async () => {
  project = await temporaryDirectory();
  stack = await serveHere(['--ephemeral', '--port', '0'], { cwd: project.path });
});
afterAll(async () => {
  await stack.stop();
  await project.remove();
});

const here = (...args: string[]) => rewards(args, { cwd: project.path });
const hereJson = (...args: string[]) => rewardsJson(args, { cwd: project.path });
const waitFor = (condition: string, timeout = '20s') =>
  hereJson('wait', '--for', condition, '--timeout', timeout);
const expectTimeout = async (condition: string, seen: string) => {
  // As long as an answer may take as well.
  const { code, envelope } = await waitFor(condition, '1s');
  expect(code).toBe(exitCodes.unreachable);
  expect(envelope.error).toMatchObject({ code: 'E_TIMEOUT', retryable: true, details: { condition } });
  expect(envelope.error.message).toContain(seen);
};

describe('rewards wait', () => {
  test('ready: at once where a stack runs, and until one does where none runs yet', async () => {
    const { code, stdout } = await rewardsProcess(['wait'], { cwd: project.path });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'ready  healthy\n' });
    const other = await temporaryDirectory();
    const waiting = rewardsJson(['wait', '--timeout', '50s'], { cwd: other.path });
    const late = startProcess(['serve', '--ephemeral', '--port', '0'], { cwd: other.path });
    try {
      expect((await waiting).envelope).toMatchObject({
        ok: true,
        data: { conditions: [{ seen: 'healthy' }] },
      });
    } finally {
      await late.stop();
      await other.remove();
    }
    expect(await rewards(['wait', '--timeout', '100ms'])).toMatchObject({
      code: exitCodes.unreachable,
      stderr: expect.stringContaining('no stack runs here'),
    });
  });

  test('balance: from nothing to what a reward gives; several conditions hold one after the other', async () => {
    await expectTimeout('balance:dora@demo.example>=100', 'dora@demo.example has 0 RWT');
    const waiting = hereJson('wait', '--for', 'ready', '--for', 'balance:dora@demo.example>=100');
    const sent = await hereJson('send-event', 'account_creation', '--user', 'dora@demo.example');
    expect(sent.code).toBe(0);
    expect((await waiting).envelope.data.conditions).toEqual([
      { condition: 'ready', seen: 'healthy' },
      { condition: 'balance:dora@demo.example>=100', seen: 'dora@demo.example has 100 RWT' },
    ]);
    const tx = await waitFor(`tx:${sent.envelope.data.body.transactionHash}`);
    expect(tx.envelope.data.conditions[0].seen).toMatch(/^in block \d+$/);
    await expectTimeout(`tx:0x${'ab'.repeat(32)}`, 'in no block');
  });

  test('tx: a transaction that was reverted holds never', async () => {
    const call = async (method: string, params: unknown[]) => {
      const response = await fetch(stack.ready.urls.rpc, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
      return ((await response.json()) as { result: string }).result;
    };
    const from = stack.ready.users[0].address;
    await call('anvil_impersonateAccount', [from]);
    await call('anvil_setBalance', [from, '0xde0b6b3a7640000']);
    const hash = await call('eth_sendTransaction', [
      { from, to: stack.ready.contracts.token, data: '0xdeadbeef', gas: '0x186a0' },
    ]);
    expect(hash).toMatch(/^0x/);
    const { code, envelope } = await waitFor(`tx:${hash}`);
    expect(code).toBe(exitCodes.refused);
    expect(envelope.error.message).toContain('reverted');
  });

  test('minted: only when the RWT of a paid checkout are there; asking mints nothing', async () => {
    await hereJson('checkout', 'create', '--amount', '500', '--user', 'alice@demo.example');
    await expectTimeout('minted:latest', 'unpaid');
    expect((await here('checkout', 'pay', 'latest', '--no-webhook')).code).toBe(0);
    await expectTimeout('minted:latest', 'is paid');
    await hereJson('checkout', 'create', '--amount', '700', '--user', 'alice@demo.example');
    const paid = await hereJson('checkout', 'pay', 'latest');
    const session = paid.envelope.data.body.id;
    const { envelope } = await waitFor(`minted:${session}`);
    expect(envelope.data.conditions[0].seen).toMatch(/^minted by 0x[0-9a-f]{64}$/);
    await hereJson('checkout', 'create', '--amount', '900', '--user', 'alice@demo.example');
    await here('checkout', 'expire', 'latest');
    expect(await waitFor('minted:latest')).toMatchObject({
      code: exitCodes.refused,
      envelope: { error: { message: expect.stringContaining('expired') } },
    });
  });

  test('webhook: when every endpoint has taken the event, of the service or of the processor', async () => {
    await here('send-event', 'account_creation', '--user', 'emil@demo.example');
    const { envelope } = await hereJson('webhooks', 'deliveries', 'list');
    const id = envelope.data.body.deliveries[0].eventId;
    expect((await waitFor(`webhook:${id}`)).envelope.data.conditions[0].seen).toBe('1 of 1 deliveries taken');
    await here('checkout', 'create', '--amount', '500', '--user', 'alice@demo.example');
    await here('checkout', 'pay', 'latest');
    const ofProcessor = /evt_\w+/.exec((await hereJson('webhooks', 'list')).stdout)?.[0];
    expect((await waitFor(`webhook:${ofProcessor}`)).code).toBe(0);
    await expectTimeout('webhook:evt_nobody', 'nobody knows');
  });

  test('what is not a condition is told before anything is asked', async () => {
    for (const text of ['redy', 'tx:0x12', 'balance:alice', 'minted:', 'ready:now']) {
      expect(await here('wait', '--for', text)).toMatchObject({
        code: exitCodes.usage,
        stderr: expect.stringContaining('balance:USER>=AMOUNT'),
      });
    }
  });
});
