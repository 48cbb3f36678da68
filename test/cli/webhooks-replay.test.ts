/** `rewards webhooks list|show|replay|send` on files that the processor exports, against a receiver of the test's own. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Stripe from 'stripe';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { rewards, rewardsJson, temporaryDirectory } from '../kits/service/cli.ts';
import { type Asked, stubService } from './stub-service.ts';

const SECRET = 'whsec_replay';
const event = (id: string, more: { type?: string; session?: string; created?: number } = {}) => ({
  id,
  object: 'event',
  api_version: '2026-10-28.endive',
  created: more.created ?? 1_790_000_000,
  livemode: false,
  type: more.type ?? 'checkout.session.completed',
  data: { object: { id: more.session ?? 'cs_test_1', object: 'checkout.session', amount_total: 500 } },
});
const events = [
  event('evt_1'),
  event('evt_2', { session: 'cs_test_2' }),
  event('evt_3', { session: 'cs_test_3' }),
];

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
const undo: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  folder = await temporaryDirectory();
  await write('events.json', JSON.stringify(events));
});
afterEach(async () => {
  for (const one of undo.splice(0)) await one();
});
afterAll(() => folder.remove());

const write = (name: string, text: string) => writeFile(join(folder.path, name), text);
const json = (...args: string[]) => rewardsJson(['webhooks', ...args], { cwd: folder.path });

/** Answers as payment-mint does: a session is minted once, whoever asks; `bug` mints at every call. */
async function receiver({ bug = false } = {}) {
  const minted = new Map<string, string>();
  let mints = 0;
  const verdicts: string[] = [];
  const service = await stubService(({ body, headers }) => {
    try {
      const sent = Stripe.webhooks.constructEvent(body, headers['stripe-signature'] ?? '', SECRET);
      const age = Date.now() / 1_000 - Number(/t=(\d+)/.exec(String(headers['stripe-signature']))?.[1]);
      if (age < -300) throw new Error('from the future');
      const { id } = sent.data.object as { id: string };
      const known = bug ? undefined : minted.get(id);
      const txHash = known ?? `0x${String(++mints).padStart(64, '0')}`;
      minted.set(id, txHash);
      verdicts.push('taken');
      return { body: { success: true, message: 'Minted', txHash, ...(known && { alreadyProcessed: true }) } };
    } catch {
      verdicts.push('refused');
      return { status: 400, body: { success: false, message: 'signature_wrong' } };
    }
  });
  undo.push(service.close);
  const idsOf = (asked: Asked[]) => asked.map(({ body }) => JSON.parse(body).id as string);
  return { url: service.url, asked: service.asked, ids: () => idsOf(service.asked), verdicts };
}

const replay = (to: string, ...more: string[]) =>
  json('replay', '--from', 'events.json', '--to', to, '--secret', SECRET, '--watch', '0ms', ...more);

describe('files', () => {
  const one = event('evt_1');
  test.each([
    ['an event', JSON.stringify(one, null, 2), ['evt_1']],
    ['an event with a byte order mark', `\uFEFF${JSON.stringify(one)}`, ['evt_1']],
    ['an array', JSON.stringify(events), ['evt_1', 'evt_2', 'evt_3']],
    [
      'a list of the API',
      JSON.stringify({ object: 'list', url: '/v1/events', data: events }),
      ['evt_1', 'evt_2', 'evt_3'],
    ],
    [
      'one a line',
      `${events.map((each) => JSON.stringify(each)).join('\n')}\n\n`,
      ['evt_1', 'evt_2', 'evt_3'],
    ],
    [
      'lists a line',
      `${JSON.stringify({ object: 'list', data: [one] })}\n${JSON.stringify(event('evt_9'))}`,
      ['evt_1', 'evt_9'],
    ],
    ['an envelope of an event bus', JSON.stringify({ 'detail-type': 'x', detail: one }), ['evt_1']],
  ])('%s', async (_, text, ids) => {
    await write('export', text);
    const { code, envelope } = await json('list', '--from', 'export');
    expect(code).toBe(0);
    expect(envelope.data.events.map(({ id }: { id: string }) => id)).toEqual(ids);
    expect(envelope.data.events[0]).toMatchObject({
      type: 'checkout.session.completed',
      objectId: 'cs_test_1',
      createdAt: '2026-09-21T14:13:20.000Z',
    });
  });

  test('what show prints can be replayed', async () => {
    const shown = await json('show', 'evt_2', '--from', 'events.json');
    await write('shown.json', shown.stdout);
    const { url, ids } = await receiver();
    await json('replay', '--from', 'shown.json', '--to', url, '--secret', SECRET);
    expect(ids()).toEqual(['evt_2']);
  });

  test.each([
    ['no JSON', 'not JSON', 2, 'it is not JSON'],
    ['a line that is not JSON', `${JSON.stringify(one)}\n{"id":`, 2, 'line 2 is not JSON'],
    ['no events', '{"object":"checkout.session","id":"cs_1"}', 2, 'holds no event'],
  ])('%s is refused', async (_, text, code, said) => {
    await write('export', text);
    const finished = await rewards(['webhooks', 'list', '--from', 'export'], { cwd: folder.path });
    expect(finished.code).toBe(code);
    expect(finished.stderr).toContain(said);
  });

  test('show and list tell an event, and what there is in place of one that is not there', async () => {
    const { stdout } = await rewards(['webhooks', 'list', '--from', 'events.json'], { cwd: folder.path });
    expect(stdout).toMatch(/2026-09-21 14:13:20 {2}checkout\.session\.completed {2}evt_1 {2}cs_test_1/);
    const latest = await rewards(['webhooks', 'show', 'latest', '--from', 'events.json'], {
      cwd: folder.path,
    });
    expect(latest.stdout).toContain('"id": "evt_3"');
    const missing = await rewards(['webhooks', 'show', 'evt_9', '--from', 'events.json'], {
      cwd: folder.path,
    });
    expect(missing).toMatchObject({ code: 1 });
    expect(missing.stderr).toContain('evt_1, evt_2, evt_3');
  });
});

describe('replay', () => {
  test('delivers each event signed, and tells each answer and the effects', async () => {
    const { url, ids, asked } = await receiver();
    const { code, envelope } = await replay(url);
    expect(code).toBe(0);
    expect(ids()).toEqual(['evt_1', 'evt_2', 'evt_3']);
    // As the processor writes it.
    expect(asked[0]?.body).toBe(JSON.stringify(events[0], null, 2));
    expect(envelope.data.effects).toEqual({
      measured: 'answers',
      deliveries: 3,
      mints: 3,
      mintedBefore: 0,
      mintedTwice: [],
    });
    expect(envelope.data.deliveries[0]).toMatchObject({
      number: 1,
      eventId: 'evt_1',
      objectId: 'cs_test_1',
      status: 200,
      message: 'Minted',
    });
  });

  test('three times each, in rounds, three at once: one mint for each session', async () => {
    const { url, asked } = await receiver();
    const args = ['webhooks', 'replay', '--from', 'events.json', 'evt_1', '--to', url, '--secret', SECRET];
    const finished = await rewards([...args, '--times', '3', '--concurrency', '3', '--expect-effects', '1'], {
      cwd: folder.path,
    });
    expect(finished.stderr).toBe('');
    expect(finished.code).toBe(0);
    expect(finished.stdout).toContain('✓ exactly once: 3 deliveries, 1 mint');
    expect(asked).toHaveLength(3);
    const again = await replay(url, 'evt_1', '--expect-effects', 'none');
    expect(again.envelope.data.effects).toMatchObject({ mints: 0, mintedBefore: 1 });
  });

  test('a receiver that mints twice fails, expected or not', async () => {
    const { url } = await receiver({ bug: true });
    const args = ['webhooks', 'replay', '--from', 'events.json', 'evt_1', '--times', '2', '--to', url];
    const finished = await rewards([...args, '--secret', SECRET], { cwd: folder.path });
    expect(finished.code).toBe(1);
    expect(finished.stderr).toContain('✗ more than once: 2 deliveries, 2 mints; twice or more for cs_test_1');
  });

  test('effects that differ from the expected ones end with 1, and both numbers', async () => {
    const { url } = await receiver();
    const { code, envelope } = await replay(url, '--expect-effects', '1');
    expect(code).toBe(1);
    expect(envelope.error).toMatchObject({
      code: 'E_UNEXPECTED_EFFECTS',
      message: '1 mint expected, and there were 3.',
    });
    expect(envelope.data.deliveries).toHaveLength(3);
    const args = ['webhooks', 'replay', '--from', 'events.json', '--to', url, '--secret', SECRET];
    const text = await rewards([...args, '--expect-effects', '1'], { cwd: folder.path });
    expect(text.stderr).toContain('✗ not as expected: 3 deliveries, no mint (3 sessions minted before)');
    expect(text.stderr).toContain('1 mint expected, and there were 0.');
  });

  test.each([
    ['--stale'],
    ['--future'],
    ['--tamper', 'body'],
    ['--tamper', 'signature'],
    ['--tamper', 'timestamp'],
  ])('%s %s: every delivery is refused, and nothing minted', async (...args) => {
    const { url, verdicts } = await receiver();
    const { code, envelope } = await replay(url, '--times', '2', ...args, '--expect-effects', 'none');
    expect(code).toBe(0);
    expect(verdicts).toEqual(Array(6).fill('refused'));
    expect(envelope.data.deliveries.map(({ status }: { status: number }) => status)).toEqual(
      Array(6).fill(400),
    );
  });

  test('--tamper body names another session', async () => {
    const { url, asked } = await receiver();
    await replay(url, 'evt_1', '--tamper', 'body');
    const { id, data } = JSON.parse(asked[0]?.body ?? '{}');
    expect({ id, session: data.object.id }).toEqual({ id: 'evt_1', session: 'cs_test_0' });
  });

  test('reorders: reversed, or shuffled in an order that can be had again', async () => {
    const orders = await Promise.all(
      ['reverse', 'shuffle:5', 'shuffle:5', 'shuffle:6'].map(async (order) => {
        const { url, ids } = await receiver();
        await replay(url, '--times', '3', '--reorder', order);
        return ids();
      }),
    );
    const [reversed, five, fiveAgain, six] = orders;
    expect(reversed).toEqual([
      'evt_3',
      'evt_2',
      'evt_1',
      'evt_3',
      'evt_2',
      'evt_1',
      'evt_3',
      'evt_2',
      'evt_1',
    ]);
    expect(fiveAgain).toEqual(five);
    expect(six).not.toEqual(five);
    expect(five?.toSorted()).toEqual(reversed?.toSorted());
    const { url } = await receiver();
    const { envelope } = await replay(url, '--reorder', 'shuffle');
    expect(envelope.data.seed).toEqual(expect.any(Number));
  });

  test('an event keeps its id, or gets another one for each delivery', async () => {
    const same = await receiver();
    await replay(same.url, 'evt_1', '--times', '2', '--same-id');
    expect(same.ids()).toEqual(['evt_1', 'evt_1']);
    const other = await receiver();
    const { envelope } = await replay(
      other.url,
      'evt_1',
      '--times',
      '2',
      '--new-id',
      '--expect-effects',
      '1',
    );
    expect(new Set(other.ids()).size).toBe(2);
    expect(envelope.ok).toBe(true);
  });

  test('--delay lets signatures get older on their way', async () => {
    const { url, asked } = await receiver();
    await replay(url, 'evt_1', '--delay', '1100ms');
    const signedSeconds = Number(/t=(\d+)/.exec(String(asked[0]?.headers['stripe-signature']))?.[1]);
    expect(Date.now() / 1_000 - signedSeconds).toBeGreaterThan(1);
  });

  test('--type keeps the others back', async () => {
    await write('mixed', JSON.stringify([events[0], event('evt_8', { type: 'charge.refunded' })]));
    const { url, ids } = await receiver();
    const args = ['replay', '--from', 'mixed', '--to', url, '--secret', SECRET];
    await json(...args, '--type', 'charge.refunded');
    expect(ids()).toEqual(['evt_8']);
    const none = await json(...args, '--type', 'charge.dispute.created');
    expect(none.envelope.error.hint).toContain('checkout.session.completed, charge.refunded');
  });

  test('a receiver that does not listen is told as that', async () => {
    const gone = await receiver();
    await undo.pop()?.();
    const { envelope } = await replay(gone.url, 'evt_1');
    expect(envelope.data.deliveries[0]).toMatchObject({ status: null, message: 'ECONNREFUSED' });
  });

  test.each([
    [['--to', 'http://127.0.0.1:1'], 'The signing secret of http://127.0.0.1:1 is not known here'],
    [[], 'Nothing runs here that takes events'],
    [['--to', 'http://127.0.0.1:1', '--secret', SECRET, '--stale', '--future'], 'exclude each other'],
    [['--reorder', 'sideways'], 'It must be reverse, shuffle'],
    [['--expect-effects', 'some'], 'It must be none, or a number of mints'],
    [['--new-id', '--same-id'], 'cannot be used with'],
  ])('%j: usage, and what to give', async (args, said) => {
    const finished = await rewards(['webhooks', 'replay', '--from', 'events.json', ...args], {
      cwd: folder.path,
    });
    expect(finished.code).toBe(2);
    expect(finished.stderr).toContain(said);
  });
});

describe('send', () => {
  const send = (to: string, ...more: string[]) =>
    json('send', '--to', to, '--secret', SECRET, '--watch', '0ms', ...more);

  test('a signed event of a type, with fields as they are set', async () => {
    const { url, asked, verdicts } = await receiver();
    const fields = [
      '--set',
      'data.object.id=cs_test_7',
      '--set',
      'data.object.amount_total=5',
      '--set-string',
      'data.object.code=5',
    ];
    const { code } = await send(url, '--type', 'checkout.session.completed', ...fields);
    expect({ code, verdicts }).toEqual({ code: 0, verdicts: ['taken'] });
    expect(JSON.parse(asked[0]?.body ?? '{}')).toMatchObject({
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      object: 'event',
      type: 'checkout.session.completed',
      data: { object: { object: 'checkout.session', id: 'cs_test_7', amount_total: 5, code: '5' } },
    });
  });

  test('an event of a file, changed, as often as wished', async () => {
    await write('one.json', JSON.stringify(event('evt_1')));
    const { url, asked } = await receiver();
    const { envelope } = await send(
      url,
      '--file',
      'one.json',
      '--set',
      'data.object.id=cs_test_8',
      '--times',
      '2',
    );
    expect(asked.map(({ body }) => JSON.parse(body).data.object.id)).toEqual(['cs_test_8', 'cs_test_8']);
    expect(envelope.data.effects).toMatchObject({ deliveries: 2, mints: 1 });
  });

  test('says what an event lacks', async () => {
    const none = await send('http://127.0.0.1:1');
    expect(none.envelope.error).toMatchObject({ code: 'E_USAGE', message: 'The event has no type.' });
    const broken = await send('http://127.0.0.1:1', '--type', 'a.b', '--set', 'data=5');
    expect(broken.envelope.error.message).toContain('needs an id and data');
  });
});
