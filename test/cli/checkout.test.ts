/** `rewards checkout` as a shell sees it: the buyer, the bank and the merchant of a real stack. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { purchase, stripeOf } from '../emulator/processor/stripe-kit.ts';
import { rewards, rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';

let stack: Awaited<ReturnType<typeof serveHere>>;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
const json = (...args: string[]) => rewardsJson(['checkout', ...args], { cwd: project.path });
const plain = (...args: string[]) => rewards(['checkout', ...args], { cwd: project.path });
const opened = async () => (await stripeOf(stack.ready).checkout.sessions.create(purchase())).id;

beforeAll(async () => {
  project = await temporaryDirectory();
  stack = await serveHere(['--port', '0', '--ephemeral'], { cwd: project.path });
});
afterAll(async () => {
  await stack?.stop();
  await project?.remove();
});

describe('pay', () => {
  test('completes the latest checkout, once', async () => {
    const id = await opened();
    const paid = await json('pay', 'latest');
    expect(paid.envelope).toMatchObject({
      ok: true,
      data: { status: 200, body: { id, status: 'complete', paymentStatus: 'paid' } },
    });
    const again = await plain('pay', id);
    expect(again.code).toBe(exitCodes.refused);
    expect(again.stderr).toContain(`The session ${id} is complete: it was paid already`);
  });

  test('with --delay it arrives later; with --decline it fails', async () => {
    const id = await opened();
    expect((await json('pay', id, '--delay', '2h')).envelope.data.body).toMatchObject({
      status: 'complete',
      paymentStatus: 'unpaid',
    });
    await rewards(['clock', 'advance', '2h'], { cwd: project.path });
    expect((await json('show', id)).envelope.data.body.paymentStatus).toBe('paid');
    const other = await opened();
    expect((await json('pay', other, '--decline')).envelope.data.body.status).toBe('open');
    const failing = await json('pay', other, '--async', '--decline', 'insufficient_funds');
    expect(failing.envelope.data.body.status).toBe('complete');
    await rewards(['clock', 'advance', '61s'], { cwd: project.path });
    const { body } = (await json('show', other)).envelope.data;
    expect(body.paymentStatus).toBe('unpaid');
    expect(body.events.map(({ type }: { type: string }) => type)).toContain(
      'checkout.session.async_payment_failed',
    );
  });

  test('with --no-webhook no endpoint hears of it', async () => {
    const id = await opened();
    await plain('pay', id, '--no-webhook');
    const { events } = (await json('show', id)).envelope.data.body;
    expect(events.map(({ deliveries }: { deliveries: unknown[] }) => deliveries)).toEqual([[], []]);
    expect((await plain('show', id)).stdout).toMatch(/told +checkout\.session\.completed +evt_\w+ +nobody/);
  });
});

test('decline leaves it open, expire ends it, and neither can be paid back', async () => {
  const id = await opened();
  expect((await plain('decline', id, '--code', 'expired_card')).stdout).toContain('open');
  expect((await plain('refund', id)).stderr).toContain('does not have a successful charge to refund');
  expect((await plain('expire', id)).stdout).toContain('expired');
  expect((await plain('pay', id)).stderr).toContain('has expired');
});

test('refund in parts, and dispute', async () => {
  const [refunded, disputed] = [await opened(), await opened()];
  for (const id of [refunded, disputed]) await plain('pay', id);
  expect((await plain('refund', refunded, '--amount', '200')).stdout).toContain('200 of 500 refunded');
  expect((await plain('refund', refunded, '--reason', 'duplicate')).stdout).toContain('paid, refunded');
  expect((await plain('dispute', disputed)).stdout).toContain('disputed');
});

test('list shows the newest first, those of one state, and those of one buyer', async () => {
  const id = await opened();
  const { sessions } = (await json('list', '--limit', '2')).envelope.data.body;
  expect(sessions).toHaveLength(2);
  expect(sessions[0]).toMatchObject({ id, status: 'open', amount: 500 });
  const { email } = sessions[0];
  const own = (await json('list', '--user', email.toUpperCase(), '--limit', '500')).envelope.data.body;
  expect(new Set(own.sessions.map((one: { email: string }) => one.email))).toEqual(new Set([email]));
  expect((await json('list', '--user', 'nobody@demo.example')).envelope.data.body.sessions).toEqual([]);
  const [first = ''] = (await plain('list', '--status', 'complete')).stdout.split('\n');
  expect(first).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +cs_test_\w+ +5\.00 usd +paid/);
});

test('what does not exist is named, with the way to what does', async () => {
  const finished = await plain('show', 'cs_test_none');
  expect(finished).toMatchObject({ code: exitCodes.refused, stdout: '' });
  expect(finished.stderr).toContain('No session cs_test_none');
});

describe('create and mint', () => {
  const mint = (...args: string[]) => rewards(['mint', ...args], { cwd: project.path });

  test('the answer of the API is the body; the page is the emulator’s', async () => {
    const { code, envelope } = await json('create', '--amount', '500', '--user', 'alice@demo.example');
    expect(code).toBe(exitCodes.done);
    const { sessionId, checkoutUrl } = envelope.data.body;
    expect(envelope.data).toMatchObject({ status: 200, body: { success: true } });
    expect(checkoutUrl).toBe(`${stack.ready.processor.url}/_pay/${sessionId}`);
    expect((await fetch(checkoutUrl)).status).toBe(200);
    expect((await json('show', 'latest')).envelope.data.body).toMatchObject({
      id: sessionId,
      email: 'alice@demo.example',
      metadata: { usd_amount: '5', rwt_amount: '5000' },
    });
  });

  test('the same key gets the same checkout', async () => {
    const create = () =>
      json('create', '--amount', '700', '--user', 'bob@demo.example', '--idempotency-key', 'order 7');
    const [first, second] = [await create(), await create()];
    expect(second.envelope.data.body).toEqual(first.envelope.data.body);
  });

  test('too little is refused, and may be expected', async () => {
    const refused = await plain('create', '--amount', '49', '--user', 'alice@demo.example');
    expect(refused).toMatchObject({ code: exitCodes.refused, stdout: '' });
    expect(refused.stderr).toContain('whole number of US cents from 50');
    const expected = await plain('create', '--amount', '49', '--user', 'a@demo.example', '--expect', '400');
    expect(expected.code).toBe(exitCodes.done);
  });

  test('an unpaid checkout mints nothing; a paid one mints once', async () => {
    const create = await json('create', '--amount', '500', '--user', 'alice@demo.example');
    const { sessionId } = create.envelope.data.body;
    const unpaid = await mint(sessionId);
    expect(unpaid).toMatchObject({ code: exitCodes.refused, stdout: '' });
    expect(unpaid.stderr).toContain('Payment not completed: unpaid');
    await plain('pay', 'latest', '--no-webhook');
    expect((await mint('latest')).stdout).toMatch(/^minted 5000 RWT for 0x[0-9a-fA-F]{40}, of 5 dollars/);
    expect((await mint(sessionId)).stdout).toMatch(/^minted before 5000 RWT/);
  });

  test.each([
    [['cs_1', '--to', `0x${'c3'.repeat(20)}`], 'exclude each other'],
    [[], "missing required argument 'session', or --to <address>"],
    [['--to', `0x${'c3'.repeat(20)}`], 'missing --amount'],
    [['--expect', '200', '--to', `0x${'c3'.repeat(20)}`, '--amount', '1'], '--expect goes with a session'],
  ])('mint %j says what it takes', async (args, said) => {
    const finished = await mint(...args);
    expect(finished.code).toBe(exitCodes.usage);
    expect(finished.stderr).toContain(said);
  });
});
