/** A kept request sent again: its answers, what it brings about, and two requests side by side. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { rewards, rewardsJson } from '../kits/service/cli.ts';
import { someone, startTestService, type TestService } from '../kits/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const around = (env: Record<string, string> = {}) => ({
  env: { REWARDS_CONTROL_TOKEN: service.ready.controlToken, ...env },
});
const at = () => ['--target', service.ready.urls.events];
const cli = (...args: string[]) => rewards([...args, ...at()], around());
const json = async (...args: string[]) => {
  const { code, envelope } = await rewardsJson([...args, ...at()], around());
  return { code, ...envelope };
};
const idOf = (answer: { headers: Headers }) => answer.headers.get('x-request-id') ?? '';
const nothing = {
  rewards: 0,
  rwtRewarded: 0,
  mints: 0,
  rwtMinted: 0,
  relays: 0,
  redemptions: 0,
  checkouts: 0,
  wallets: 0,
  webhooks: 0,
};

describe('replay', () => {
  test('the same event again is a duplicate: an answer for each, and no effect', async () => {
    const sent = await service.event({ userEmail: someone() });
    const replayed = await json(
      ...['requests', 'replay', idOf(sent), '--times', '6', '--concurrency', '3', '--expect-effects', 'none'],
    );
    expect(replayed).toMatchObject({ code: exitCodes.done, data: { id: idOf(sent), effects: nothing } });
    expect(replayed.data.answers).toMatchObject(
      [1, 2, 3, 4, 5, 6].map((number) => ({ number, status: 409, reason: 'duplicate' })),
    );
    const ids = replayed.data.answers.map(({ requestId }: { requestId: string }) => requestId);
    expect(new Set(ids).size).toBe(6);
    const kept = await json('requests', 'list', '-n', '6');
    expect(kept.data.body.requests.map(({ id }: { id: string }) => id).sort()).toEqual(ids.sort());
  });

  test('effects that were not expected: exit 1, and each of them named', async () => {
    const userEmail = someone();
    const sent = await service.event({ userEmail, eventType: 'form_submit' });
    await service.advance('61s');
    const replayed = await cli('requests', 'replay', idOf(sent), '--expect-effects', 'none');
    expect(replayed.code).toBe(exitCodes.refused);
    expect(replayed.stderr).toMatch(/effects {2}1 reward, 10 RWT rewarded, 1 webhook/);
    expect(replayed.stderr).toContain('E_UNEXPECTED_EFFECTS');
    await service.advance('61s');
    const expected = await json(
      ...['requests', 'replay', idOf(sent), '--expect-effects', 'rewards=1,rwtRewarded=10,wallets=0'],
    );
    expect(expected).toMatchObject({ code: exitCodes.done, data: { effects: { rewards: 1, webhooks: 1 } } });
    await service.advance('61s');
    const wrong = await json('requests', 'replay', idOf(sent), '--expect-effects', 'rewards=2');
    expect(wrong).toMatchObject({
      code: exitCodes.refused,
      error: { code: 'E_UNEXPECTED_EFFECTS', message: 'Expected 2 rewards, and there were 1.' },
    });
  });

  test('--diff: how each answer differs from the first one', async () => {
    const sent = await service.event({ userEmail: someone() });
    const { data } = await json('requests', 'replay', idOf(sent), '--diff');
    const differences = new Map<string, { a?: unknown; b?: unknown }>(
      data.answers[0].differences.map((one: { path: string }) => [one.path, one]),
    );
    expect(differences.get('status')).toMatchObject({ a: 200, b: 409 });
    expect(differences.get('decision')).toMatchObject({ a: 'rewarded', b: 'duplicate' });
    expect(differences.get('checks[0].duplicate')).toMatchObject({ a: 'ok', b: 'refused' });
    expect(differences.get('responseBody.details')).toEqual({
      path: 'responseBody.details',
      b: expect.objectContaining({ reason: 'duplicate' }),
    });
    expect(differences.has('requestBody')).toBe(false);
    const { stdout } = await cli('requests', 'replay', 'latest', '--diff');
    expect(stdout).toMatch(/-> {2}409, sent again\n {4}1 {2}409 +\d+ms {2}req_[0-9a-f]{8} {2}duplicate/);
    expect(stdout).toContain('effects  none');
  });

  test('an idempotency key brings the first answer again; --new-id sends each under a key of its own', async () => {
    const sent = await service.event({ userEmail: someone() }, { 'idempotency-key': 'order-77' });
    const same = await json('requests', 'replay', idOf(sent), '--times', '2', '--diff');
    expect(same.data).toMatchObject({ effects: nothing, answers: [{ status: 200 }, { status: 200 }] });
    expect(same.data.answers[0].differences.map(({ path }: { path: string }) => path)).not.toContain(
      'responseBody.eventId',
    );
    const fresh = await json('requests', 'replay', idOf(sent), '--new-id');
    expect(fresh.data.answers).toMatchObject([{ status: 409, reason: 'duplicate' }]);
    const other = await json('requests', 'show', fresh.data.answers[0].requestId);
    expect(other.data.body.requestHeaders['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("the brand's key is taken from the environment, and its lack is said before anything is sent", async () => {
    const userEmail = someone();
    const key = { authorization: `Bearer ${service.brand.apiKey}` };
    const sent = await service.event({ userEmail }, key);
    const without = await json('requests', 'replay', idOf(sent));
    expect(without).toMatchObject({
      code: exitCodes.precondition,
      error: { code: 'E_NOT_REPLAYABLE', hint: 'Set REWARDS_API_KEY.' },
    });
    expect((await json('requests', 'list', '--user', userEmail)).data.body.requests).toHaveLength(1);
    const replayed = await rewardsJson(
      ['requests', 'replay', idOf(sent), ...at()],
      around({ REWARDS_API_KEY: service.brand.apiKey }),
    );
    const { requestId } = replayed.envelope.data.answers[0];
    expect((await json('requests', 'show', requestId)).data.body.withBrandKey).toBe(true);
  });

  test.each([
    [{ password: 'x' }, 'there were secrets in its body'],
    [{ text: 'x'.repeat(11_000) }, 'its body was refused as such'],
  ])('a body that the log does not have as it was is not sent: %#', async (more, why) => {
    const before = await json('requests', 'list', '-n', '1');
    const sent = await service.event({ userEmail: someone(), ...more });
    const refused = await json('requests', 'replay', idOf(sent));
    expect(refused).toMatchObject({ code: exitCodes.precondition, error: { code: 'E_NOT_REPLAYABLE' } });
    expect(refused.error.message).toContain(why);
    const after = await json('requests', 'list', '-n', '2');
    expect(after.data.body.requests[1].id).toBe(before.data.body.requests[0].id);
  });

  test.each([
    ['--expect-effects', 'some'],
    ['--expect-effects', 'rewards=1,nothing=2'],
    ['--times', '0'],
    ['--concurrency', '201'],
  ])('%s %s is no such option', async (...option) => {
    expect(await cli('requests', 'replay', 'latest', ...option)).toMatchObject({ code: exitCodes.usage });
  });
});

describe('diff', () => {
  test('field by field: bodies, status and decision, in text and JSON', async () => {
    const one = await service.event({ userEmail: 'eve@demo.example', metadata: { form: 'a', tags: [1, 2] } });
    const other = await service.event({
      userEmail: 'frank@demo.example',
      eventType: 'nothing',
      metadata: { form: 'a', tags: [1, 3] },
    });
    const { data } = await json('requests', 'diff', idOf(one), idOf(other));
    expect(data).toMatchObject({ a: idOf(one), b: idOf(other), same: false });
    expect(data.differences).toEqual(
      expect.arrayContaining([
        { path: 'requestBody.userEmail', a: 'eve@demo.example', b: 'frank@demo.example' },
        { path: 'requestBody.eventType', a: 'account_creation', b: 'nothing' },
        { path: 'requestBody.metadata.tags[1]', a: 2, b: 3 },
        { path: 'status', a: 200, b: 400 },
        { path: 'decision', a: 'rewarded', b: 'event_not_found' },
      ]),
    );
    expect(data.differences.map(({ path }: { path: string }) => path)).not.toContain(
      'requestBody.metadata.form',
    );
    const { stdout } = await cli('requests', 'diff', idOf(one), idOf(other));
    expect(stdout).toContain('  ~ status  200 → 400');
    expect(stdout).toMatch(/ {2}- responseBody\.eventId {2}"[0-9a-f-]{36}"/);
  });

  test('a request is like itself; one that is not there is said', async () => {
    expect(await json('requests', 'diff', 'latest', 'latest')).toMatchObject({
      code: exitCodes.done,
      data: { same: true, differences: [] },
    });
    expect((await cli('requests', 'diff', 'latest', 'latest')).stdout).toContain('decided alike');
    expect((await cli('requests', 'diff', 'latest', 'req_ffff')).code).toBe(exitCodes.refused);
  });
});
