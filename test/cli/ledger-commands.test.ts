/** Every command that reads a production ledger takes its address from the same two variables. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Argument, Command } from 'commander';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Runtime } from '../../src/cli/machine/context.ts';
import { everyCommand, variableOf } from '../../src/cli/machine/options.ts';
import { buildProgram } from '../../src/cli/machine/program.ts';
import { postgresMissing } from '../kits/databases/databases.ts';
import { rewardsJson, temporaryDirectory } from '../kits/service/cli.ts';

/** Nothing listens there, so what a command says tells that it took this address. */
const AWAY = 'postgres://rewards@127.0.0.1:1/rewards';

/** What the arguments and options of the commands need to be understood, by name. */
const WORDS: Record<string, string> = {
  account: `0x${'11'.repeat(20)}`,
  id: 'req_1',
  a: 'req_1',
  b: 'req_2',
  brand: `0x${'22'.repeat(20)}`,
  brandId: `0x${'22'.repeat(20)}`,
  'setting=value': 'name=Shop',
  eventType: 'form_submit',
  amount: '1',
  domain: 'shop.example',
  reason: 'a test',
  by: 'nobody',
  brandName: 'Shop',
  url: 'https://shop.example/hooks',
  since: '5d',
  perk: '3',
  perkName: 'Tote bag',
  category: 'physical',
  cost: '300',
  user: 'ada@mail.example',
  code: 'RWD-AAAA-BBBB',
};

const OF_SHOP = ['--target', 'http://127.0.0.1:9', '--brand', 'shop.example'];

/** What commands with several forms need to be understood, by path. */
const FORMS: Record<string, string[]> = {
  'brand set': ['name=Shop'],
  'webhooks endpoints add': ['shop.example'],
  // Asked of a service; the ledger tells whose the domain is.
  'perks redeem': OF_SHOP,
  'perks check-code': OF_SHOP,
  'perks use-code': OF_SHOP,
  mint: ['--to', `0x${'33'.repeat(20)}`, '--amount', '1', '--reason', 'a test'],
};

const silent = { write: () => {}, isTTY: false, columns: 80 };
// Declares the commands; none of them runs.
const { program } = buildProgram(
  { env: {}, stdout: silent, stderr: silent } as unknown as Runtime,
  async () => {},
);
const readers = everyCommand(program).filter(({ options }) =>
  options.some((one) => variableOf(one)?.startsWith('REWARDS_DATABASE_URL')),
);

const pathOf = (command: Command): string[] =>
  command.parent ? [...pathOf(command.parent), command.name()] : [];

/** The words of a command line with everything that the command requires. */
function lineOf(command: Command): string[] {
  const word = (name: string) => {
    const known = WORDS[name];
    if (known === undefined) throw new Error(`WORDS has nothing for ${name} of ${pathOf(command).join(' ')}`);
    return known;
  };
  const needed = command.registeredArguments.filter(({ required }: Argument) => required);
  return [
    ...pathOf(command),
    ...needed.map((argument) => word(argument.name())),
    ...command.options
      .filter(({ mandatory }) => mandatory)
      .flatMap((one) => [one.long ?? '', word(one.attributeName())]),
    ...(command.name() === 'start' ? ['--check'] : []),
    ...(FORMS[pathOf(command).join(' ')] ?? []),
  ];
}

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let file: string;
beforeAll(async () => {
  folder = await temporaryDirectory();
  file = join(folder.path, 'database-url');
  await writeFile(file, `${AWAY}\n`, { mode: 0o400 });
});
afterAll(() => folder.remove());

test('there are such commands', () => {
  const paths = readers.map((command) => pathOf(command).join(' '));
  expect(paths).toEqual(
    expect.arrayContaining(['start', 'db status', 'verify', 'brand list', 'requests list', 'requests tail']),
  );
});

test.each(readers.map((command) => [pathOf(command).join(' '), command] as const))(
  '%s takes REWARDS_DATABASE_URL and REWARDS_DATABASE_URL_FILE',
  async (path, command) => {
    const said: string[] = [];
    for (const [variable, text] of [
      ['REWARDS_DATABASE_URL', AWAY] as const,
      ['REWARDS_DATABASE_URL_FILE', file] as const,
    ]) {
      const around = { cwd: folder.path, env: { [variable]: text, REWARDS_RPC_URL: 'http://127.0.0.1:1' } };
      const { envelope } = await rewardsJson(lineOf(command), around);
      // A start asks for every setting that is missing before it opens anything.
      if (path === 'start') expect(envelope.error.message).not.toContain('REWARDS_DATABASE_URL is not set');
      else expect(JSON.stringify(envelope)).toContain('127.0.0.1:1/rewards');
      said.push(JSON.stringify(envelope.error));
    }
    expect(said[1]).toBe(said[0]);
  },
);

/** Those that do nothing but work on the ledger; a start waits for it, and the doctor looks at more than it. */
const workers = readers.filter((command) => !['start', 'doctor'].includes(command.name()));

test.each(workers.map((command) => [pathOf(command).join(' '), command] as const))(
  '%s says that the production database cannot be reached, why, and what to do',
  async (_, command) => {
    const env = { REWARDS_DATABASE_URL: AWAY, REWARDS_RPC_URL: 'http://127.0.0.1:1' };
    const { code, envelope } = await rewardsJson(lineOf(command), { cwd: folder.path, env });
    expect({ code, ...envelope.error }).toMatchObject({
      code: 'E_DATABASE_UNREACHABLE',
      message: 'The database at 127.0.0.1:1/rewards cannot be reached: ECONNREFUSED.',
      hint: 'Start it, or correct its address: --database-url, REWARDS_DATABASE_URL or REWARDS_DATABASE_URL_FILE.',
      retryable: true,
    });
    expect(code).toBe(3);
    expect(envelope.meta.target).toBe('postgres://127.0.0.1:1/rewards');
  },
);

test.each(['brand list', 'requests list', 'requests tail', 'db status'])(
  '%s says why Postgres does not let it in',
  async (words) => {
    const server = process.env.REWARDS_TEST_POSTGRES_URL;
    if (postgresMissing() || !server) return;
    const url = Object.assign(new URL(server), { pathname: '/no_such_database' });
    const { code, envelope } = await rewardsJson(words.split(' '), {
      env: { REWARDS_DATABASE_URL: url.href },
    });
    expect(envelope.error).toMatchObject({
      code: 'E_DATABASE_REFUSED',
      message: expect.stringContaining('database "no_such_database" does not exist'),
      hint: 'Check user, password and database name in its address.',
    });
    expect(code).toBe(5);
  },
);

test.each(['brand list', 'requests list'])('%s says that the tables are not there yet', async (words) => {
  const database = `sqlite:${join(folder.path, words.replace(' ', '-'))}/ledger.sqlite`;
  const around = { env: { REWARDS_DATABASE_URL: database, REWARDS_ALLOW_SQLITE: 'true' } };
  const { code, envelope } = await rewardsJson(words.split(' '), around);
  expect(envelope.error).toMatchObject({
    code: 'E_MIGRATIONS_PENDING',
    hint: 'Run `rewards db migrate` with the same address first.',
  });
  expect(code).toBe(5);
});
