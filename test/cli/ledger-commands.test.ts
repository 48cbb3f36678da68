/** Every command that reads a production ledger takes its address from the same two variables. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Argument, Command } from 'commander';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Runtime } from '../../src/cli/machine/context.ts';
import { everyCommand, variableOf } from '../../src/cli/machine/options.ts';
import { buildProgram } from '../../src/cli/machine/program.ts';
import { rewardsJson, temporaryDirectory } from '../kits/cli.ts';

/** Nothing listens there, so what a command says tells that it took this address. */
const AWAY = 'postgres://rewards@127.0.0.1:1/rewards';

/** What the arguments and options of the commands need to be understood, by name. */
const WORDS: Record<string, string> = {
  account: `0x${'11'.repeat(20)}`,
  id: 'req_1',
  brand: `0x${'22'.repeat(20)}`,
  brandId: `0x${'22'.repeat(20)}`,
  'setting=value': 'name=Shop',
  eventType: 'form_submit',
  amount: '1',
  domain: 'shop.example',
  reason: 'a test',
  by: 'nobody',
  brandName: 'Shop',
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
    expect.arrayContaining(['start', 'db status', 'verify', 'brand list', 'requests list']),
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
      else expect(JSON.stringify(envelope)).toMatch(/the database does not answer|127\.0\.0\.1:1\/rewards/);
      said.push(JSON.stringify(envelope.error));
    }
    expect(said[1]).toBe(said[0]);
  },
);
