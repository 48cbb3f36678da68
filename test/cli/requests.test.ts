import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { createRequestLog } from '../../src/emulator/control/request-log.ts';
import { programMissing } from '../kits/run/programs.ts';
import { rewards, rewardsJson } from '../kits/service/cli.ts';
import { someone, startTestService, type TestService } from '../kits/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const at = () => ['--target', service.ready.urls.events];
const around = () => ({ env: { REWARDS_CONTROL_TOKEN: service.ready.controlToken } });
const cli = (...args: string[]) => rewards([...args, ...at()], around());
const listed = async (...args: string[]) =>
  (await rewardsJson(['requests', 'list', ...args, ...at()], around())).envelope.data.body.requests as {
    id: string;
    status: number;
    path: string;
  }[];

describe('list', () => {
  test('newest first, narrowed by status, method, path and user', async () => {
    const user = someone();
    await service.event({ userEmail: user });
    await service.event({ userEmail: user });
    await service.request(`/rewards-api/event-config?brandId=${service.brand.brandId}`);
    await service.request('/nowhere');
    const all = await listed();
    expect(all.slice(0, 4).map(({ status, path }) => `${status} ${path}`)).toEqual([
      '404 /nowhere',
      '200 /rewards-api/event-config',
      '409 /rewards-api/manual-event',
      '200 /rewards-api/manual-event',
    ]);
    expect((await listed('--user', user)).map(({ status }) => status)).toEqual([409, 200]);
    expect((await listed('--status', '409', '--user', user)).length).toBe(1);
    expect((await listed('--status', '4xx')).map(({ status }) => status)).toEqual([404, 409]);
    expect((await listed('--method', 'get')).map(({ path }) => path)).toEqual([
      '/nowhere',
      '/rewards-api/event-config',
    ]);
    expect(await listed('--path', 'event-config')).toHaveLength(1);
    expect(await listed('-n', '1')).toEqual([all[0]]);
    const { stdout } = await cli('requests', 'list', '--user', user);
    expect(stdout).toMatch(
      /^\d\d:\d\d:\d\d {2}POST \/rewards-api\/manual-event +409 +\d+ms {2}req_[0-9a-f]{8} {2}account_creation someone.* {2}duplicate: (1m|\d+s) left {2}why: rewards requests explain req_[0-9a-f]{8}\n/,
    );
    expect(stdout.split('\n')[1]).toMatch(
      / {2}200 .* {2}account_creation someone.* {2}\+100 RWT {2}tx 0x[0-9a-f]{4}…$/,
    );
    expect(stdout.split('\n')).toHaveLength(3);
  });

  test('by brand, however it is written, and by what was decided', async () => {
    const user = someone();
    const { brandId } = service.brand;
    await service.event({ userEmail: user });
    await service.event({ userEmail: user });
    const of = async (...more: string[]) =>
      (await listed('--user', user, ...more)).map(({ status }) => status);
    expect(await of('--brand', brandId.toUpperCase().replace('0X', '0x'))).toEqual([409, 200]);
    expect(await of('--brand', `0x${'9'.repeat(40)}`)).toEqual([]);
    expect(await of('--decision', 'duplicate')).toEqual([409]);
    expect(await of('--decision', 'rewarded', '--brand', brandId)).toEqual([200]);
    expect(await of('--decision', 'cooldown')).toEqual([]);
  });

  test('a filter that cannot be is refused', async () => {
    expect(await cli('requests', 'list', '--status', 'bad')).toMatchObject({
      code: exitCodes.refused,
      stderr: expect.stringContaining('status=429'),
    });
    expect((await cli('requests', 'list', '--limit', '501')).code).toBe(exitCodes.usage);
  });
});

describe('show', () => {
  test('both bodies; by its whole id, its beginning, or latest', async () => {
    const answer = await service.event({ userEmail: someone() }, { origin: 'https://demo.example' });
    const id = answer.headers.get('x-request-id') ?? '';
    const whole = await cli('requests', 'show', id);
    expect(whole.stdout).toContain(`${id}  20`);
    expect(whole.stdout).toContain('"eventType": "account_creation"');
    expect(whole.stdout).toContain(`"transactionHash": "${answer.body.transactionHash}"`);
    for (const name of [id.slice(0, 12), id.slice(4, 12), 'latest']) {
      expect(await cli('requests', 'show', name)).toEqual(whole);
    }
  });

  test('where its reward is now, and which transaction pays it', async () => {
    const answer = await service.event({ userEmail: someone() });
    const id = answer.headers.get('x-request-id') ?? '';
    const { eventId, transactionHash } = answer.body;
    const shown = await rewardsJson(['requests', 'show', id, ...at()], around());
    const [{ reward }] = shown.envelope.data.body.explained;
    expect(reward).toMatchObject({ eventId, transactionHash, rewardAmount: 100, reason: null });
    expect(['included', 'final']).toContain(reward.status);
    const { stdout } = await cli('requests', 'show', id);
    expect(stdout).toMatch(
      new RegExp(`reward +${eventId} {2}100 RWT {2}\\w+ in transaction ${transactionHash} of block \\d+`),
    );
    const refused = await service.event({ userEmail: someone(), eventType: 'nothing' });
    const none = await rewardsJson(['requests', 'show', 'latest', ...at()], around());
    expect(none.envelope.data.body).toMatchObject({ status: refused.status, explained: [{ reward: null }] });
  });

  test.skipIf(programMissing('curl'))(
    'as curl: the same request again, its query and quotes with it',
    async () => {
      await service.event({
        userEmail: someone(),
        eventType: 'form_submit',
        metadata: { note: "it's $HOME" },
      });
      const { stdout } = await cli('requests', 'show', 'latest', '--as', 'curl');
      // The service answers from this process, which must not wait for curl.
      const curl = spawn('sh', ['-c', stdout]);
      curl.stdout.resume();
      await once(curl, 'close');
      const [again] = await listed('-n', '1');
      expect(again).toMatchObject({ status: 409, path: '/rewards-api/manual-event' });
      const config = `/rewards-api/event-config?brandId=${service.brand.brandId}`;
      await service.request(config);
      const shown = await cli('requests', 'show', 'latest', '--as', 'curl');
      expect(shown.stdout).toBe(`curl -i '${service.ready.urls.events}${config}'\n`);
    },
  );

  test.each([
    { id: 'req_ffffffffffffffffffff', reason: 'request_not_found' },
    { id: 'req_', reason: 'request_not_found' },
  ])('$id: exit 1, and where to look', async ({ id, reason }) => {
    const { code, envelope } = await rewardsJson(['requests', 'show', id, ...at()], around());
    expect(code).toBe(exitCodes.refused);
    expect(envelope.error).toMatchObject({
      code: 'E_REFUSED',
      hint: expect.stringContaining('rewards requests list'),
    });
    expect(envelope.data.body.details.reason).toBe(reason);
  });
});

describe('the log', () => {
  const entries = (...ids: string[]) => {
    const log = createRequestLog<{ id: string; responseBody?: string }>({
      entriesMax: 2_000,
      bytesMax: 1_000_000_000,
    });
    for (const id of ids) log.add({ id });
    return log;
  };
  test('a beginning that several share is not guessed', () => {
    const log = entries('req_aa1', 'req_aa2', 'req_b');
    expect(log.find('req_aa').map(({ id }) => id)).toEqual(['req_aa2', 'req_aa1']);
    expect(log.find('aa1')).toEqual([{ id: 'req_aa1' }]);
    expect(log.find('latest')).toEqual([{ id: 'req_b' }]);
    expect(log.find('')).toEqual([]);
  });
  test('an id that is the beginning of another one is still itself', () => {
    expect(entries('req_a', 'req_ab').find('req_a')).toEqual([{ id: 'req_a' }]);
  });
  test('what came after an entry; everything when that one is forgotten', () => {
    const log = entries('req_1', 'req_2', 'req_3');
    const youngerThan = (id: string) =>
      log.list({ keep: () => true, limit: 9, after: id }).map((one) => one.id);
    expect(youngerThan('req_1')).toEqual(['req_3', 'req_2']);
    expect(youngerThan('req_3')).toEqual([]);
    expect(youngerThan('req_0')).toEqual(['req_3', 'req_2', 'req_1']);
  });
  test('large bodies make older entries go, and the newest stays whatever its size', () => {
    const log = createRequestLog<{ id: string; responseBody: string }>({ entriesMax: 9, bytesMax: 7_000 });
    for (const id of ['req_1', 'req_2', 'req_3']) log.add({ id, responseBody: 'x'.repeat(1_000) });
    expect(log.find('req_1')).toEqual([]);
    expect(log.find('latest')[0]?.id).toBe('req_3');
    expect(log.find('req_2')).toHaveLength(1);
    log.add({ id: 'req_4', responseBody: 'x'.repeat(9_000) });
    expect(log.list({ keep: () => true, limit: 9 }).map(({ id }) => id)).toEqual(['req_4']);
  });
  test('keeps the latest 2,000', () => {
    const log = entries(...Array.from({ length: 2_001 }, (_, place) => `req_${place}x`));
    expect(log.find('req_0x')).toEqual([]);
    expect(log.list({ keep: () => true, limit: 3_000 })).toHaveLength(2_000);
  });
});

describe('tail', () => {
  const program = new URL('../../bin/rewards.js', import.meta.url).pathname;
  test('each request as it comes, until a signal', async () => {
    const tail = spawn(process.execPath, [program, 'requests', 'tail', '-n', '1', '-o', 'jsonl', ...at()], {
      env: { ...process.env, ...around().env },
    });
    const lines = createInterface({ input: tail.stdout })[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await lines.next()).value);
    await next();
    const user = someone();
    await service.event({ userEmail: user });
    await service.event({ userEmail: user });
    expect([await next(), await next()]).toMatchObject([
      { type: 'request', status: 200, user, decision: 'rewarded' },
      { type: 'request', status: 409, user, decision: 'duplicate' },
    ]);
    tail.kill('SIGINT');
    expect((await once(tail, 'close'))[0]).toBe(exitCodes.done);
  });

  test('ends when its reader does', async () => {
    const line = `"${process.execPath}" "${program}" requests tail -n 0 ${at().join(' ')} | head -1`;
    const piped = spawn('sh', ['-c', line], { env: { ...process.env, ...around().env } });
    piped.stdout.resume();
    const closed = once(piped, 'close');
    const events = setInterval(() => void service.request('/nowhere'), 100);
    await closed;
    clearInterval(events);
  });
});

test('nothing there, or no emulator', async () => {
  expect(await rewards(['requests', 'list', '--target', 'http://127.0.0.1:1'])).toMatchObject({
    code: exitCodes.unreachable,
  });
});
