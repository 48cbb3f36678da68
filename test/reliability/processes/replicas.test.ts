/** Two processes on one database, one of which sleeps past its lease; and a process that is asked to stop under load. */
import { request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { postgresMissing, startPostgres } from '../../kits/databases/databases.ts';
import { askAgain, pause, startLoad, until } from './load.ts';
import { type Life, startLife } from './program.ts';
import { openStage, type Stage } from './stage.ts';

/** Of each process, when something is wrong. */
const LOG_LETTERS = 3_000;
const ROUNDS = Number(process.env.TORTURE_ROUNDS ?? 1);
const LOAD_MS = Number(process.env.TORTURE_LOAD_MS ?? 800);
const TIMEOUT_MS = 120_000;
const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function live(stage: Stage, args: string[]): Promise<{ life: Life; base: string }> {
  const life = startLife(args, { cwd: stage.folder });
  cleanUps.push(async () => {
    if (life.isOver()) return;
    life.child.kill('SIGCONT');
    await life.stop('SIGKILL');
  });
  const ready = await life.ready;
  if (!ready) throw new Error(`the service did not start: ${life.stderr()}`);
  return { life, base: ready.urls.events };
}

/** The newest epoch under which a process took the lane. */
const epochOf = ({ stderr }: Life) =>
  Math.max(
    0,
    ...[...stderr().matchAll(/"epoch":(\d+),"message":"this process sends for the lane now"/g)].map(
      ([, epoch]) => Number(epoch),
    ),
  );

test.skipIf(postgresMissing())(
  'one of two replicas sleeps past its lease and wakes up',
  { timeout: TIMEOUT_MS },
  async () => {
    const postgres = await startPostgres();
    cleanUps.push(postgres.stop);
    const stage = await openStage({ seed: 8, blockTimeSeconds: 1, databaseUrl: postgres.url });
    cleanUps.push(stage.close);
    const shared = [
      '--port',
      '0',
      '--rpc-url',
      stage.proxy.url,
      '--block-time',
      '1',
      '--database-url',
      postgres.url,
    ];
    const one = await live(stage, [...shared, '--persist-to', `${stage.folder}/one`]);
    const two = await live(stage, [...shared, '--persist-to', `${stage.folder}/two`]);
    const ready = await one.life.ready;
    if (!ready) throw new Error('it was ready before');
    const load = startLoad(stage, [one.base, two.base]);
    // Late answers keep a send under way, so that a process may fall asleep between storing and sending.
    stage.proxy.add({ fault: 'delay', delayMs: 80, probability: 0.5, method: /^eth_sendRawTransaction$/ });
    for (let round = 0; round < ROUNDS; round++) {
      await pause(LOAD_MS);
      const [holder, other] = epochOf(one.life) > epochOf(two.life) ? [one, two] : [two, one];
      const epoch = epochOf(holder.life);
      holder.life.child.kill('SIGSTOP');
      await until('the other one takes the lane', () => epochOf(other.life) > epoch);
      await pause(LOAD_MS);
      holder.life.child.kill('SIGCONT');
    }
    await pause(LOAD_MS);
    await load.stop();
    stage.proxy.heal();
    await askAgain(stage, two.base, load.users);
    const { violations, paid } = await stage.verdict(ready);
    expect(violations).toEqual([]);
    expect(paid).toBe(load.users.length);
    expect(one.life.isOver() || two.life.isOver()).toBe(false);
  },
);

test('blocks taken back while only the other replica looks: the lane sends again all the same', {
  timeout: TIMEOUT_MS,
}, async (context) => {
  if (postgresMissing()) return context.skip('needs Postgres');
  const postgres = await startPostgres();
  cleanUps.push(postgres.stop);
  const stage = await openStage({ seed: 9, blockTimeSeconds: 1, databaseUrl: postgres.url });
  cleanUps.push(stage.close);
  const shared = [
    '--port',
    '0',
    '--rpc-url',
    stage.proxy.url,
    '--block-time',
    '1',
    '--database-url',
    postgres.url,
  ];
  const one = await live(stage, [...shared, '--persist-to', `${stage.folder}/one`]);
  const two = await live(stage, [...shared, '--persist-to', `${stage.folder}/two`]);
  const ready = await one.life.ready;
  if (!ready) throw new Error('it was ready before');
  const load = startLoad(stage, [one.base]);
  for (let round = 0; round < ROUNDS * 3; round++) {
    await pause(700);
    await stage.rpc('anvil_reorg', 1 + (round % 3), []);
  }
  await load.stop();
  await askAgain(stage, one.base, load.users);
  const { violations, paid } = await stage.verdict(ready);
  const logs = [one, two].map(({ life }) => life.stderr().slice(-LOG_LETTERS)).join('\n--\n');
  expect(violations, logs).toEqual([]);
  expect(paid).toBe(load.users.length);
});

/** A request on a connection of its own: one that is kept open may be closed at the moment of its next use. */
function postOnce(url: string, body: unknown): Promise<number | string> {
  return new Promise((resolve) => {
    const options = { method: 'POST', agent: false, headers: { 'content-type': 'application/json' } };
    const sending = request(url, options, (response) => {
      response.on('end', () => resolve(response.complete ? (response.statusCode ?? 0) : 'cut short'));
      response.on('error', (error) => resolve(error.message)).resume();
    });
    sending.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sending.end(JSON.stringify(body));
  });
}

test('SIGTERM under load: every request that was taken is answered', { timeout: TIMEOUT_MS }, async () => {
  const stage = await openStage({ seed: 10, blockTimeSeconds: 0 });
  cleanUps.push(stage.close);
  const { life, base } = await live(stage, stage.serveArgs);
  const ready = await life.ready;
  const broken: (number | string)[] = [];
  let answered = 0;
  let going = true;
  let people = 0;
  const clients = Array.from({ length: 8 }, async () => {
    let again: string | undefined;
    while (going) {
      const userEmail = again ?? `term-${++people}@people.example`;
      again = undefined;
      const told = await postOnce(`${base}/rewards-api/manual-event`, {
        brandId: ready?.brands[0]?.brandId,
        eventType: 'account_creation',
        domain: 'demo.example',
        userEmail,
      });
      if (told === 200) answered += 1;
      else if (told === 'ECONNREFUSED') return;
      // Cut before any byte of an answer: a connection that nobody had accepted yet. Clients try again; that this
      // request was not taken after all shows in the end, when what was paid is what was answered.
      else if (told === 'ECONNRESET') again = userEmail;
      else broken.push(told);
    }
  });
  await pause(LOAD_MS);
  await until('enough is under way', () => answered > 10);
  const end = await life.stop('SIGTERM');
  going = false;
  await Promise.all(clients);
  expect(end).toEqual({ code: 0, signal: null });
  expect(broken).toEqual([]);
  if (!ready) throw new Error('it was ready before');
  const { violations, paid } = await stage.verdict(ready);
  expect(violations).toEqual([]);
  expect(paid).toBe(answered);
});
