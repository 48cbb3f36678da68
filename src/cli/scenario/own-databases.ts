/** Postgres databases for the stacks of scenarios: one for each, dropped at its end. */
import { secureRandom } from '../../lib/ids.ts';
import type { CommandContext } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';

/** A way to open one; undefined without --database-url. E_USAGE for an address of another form. */
export function ownDatabases({ runtime }: CommandContext, serverUrl: string | undefined) {
  if (serverUrl === undefined) return undefined;
  if (!/^postgres(?:ql)?:\/\//i.test(serverUrl) || !URL.canParse(serverUrl)) {
    throw usageError(
      '--database-url is not the address of a Postgres server.',
      'Give an address that begins with postgres://, or leave it out: ledgers are files then.',
    );
  }
  const random = secureRandom(runtime.clock);
  return async () => {
    const { ownDatabase } = await import('../../emulator/create-emulator.ts');
    const name = `rewards_scenario_${runtime.pid}_${Buffer.from(random.bytes(6)).toString('hex')}`;
    try {
      return await ownDatabase(serverUrl, name);
    } catch (cause) {
      const { code = 'no answer' } = cause as { code?: string };
      const message = `The Postgres server of --database-url gives no database of its own (${code}).`;
      throw new CliError(
        'E_DATABASE_UNREACHABLE',
        { message, fix: 'Check its address, and that its user may create databases.' },
        { cause },
      );
    }
  };
}
