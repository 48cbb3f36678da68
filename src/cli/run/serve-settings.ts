/** The settings of `rewards serve`, one row each. */
import { instant, list, onOff, port, type Setting, seconds, text } from '../../lib/setting.ts';
import { startSettings } from '../../production/settings.ts';
import { httpUrl, settingOption } from '../machine/options.ts';

/** A row of `start`, with the default that a developer wants. */
function likeStart(
  { flag, kind, help, default: usual }: Setting<unknown>,
  { default: own = usual, otherwise }: Pick<Setting<unknown>, 'default' | 'otherwise'> = {},
): Setting<unknown> {
  return { flag, kind, help, default: own, otherwise };
}

const rows = [
  { flag: '-p, --port <n>', help: 'port; 0 for any free port', kind: port, otherwise: '8787' },
  { flag: '--split-hosts', help: 'a port for each host of the service', kind: onOff },
  { flag: '--ephemeral', help: 'delete all data at the end', kind: onOff },
  { flag: '--persist-to <dir>', help: 'folder for the data', kind: text, otherwise: '.rewards/state' },
  {
    flag: '--seed <file...>',
    help: 'files with brands, events and users',
    kind: list,
    otherwise: 'the demo brand',
  },
  {
    flag: '--import <snapshot>',
    help: 'begin with this snapshot: its name, or the path of its file',
    kind: text,
  },
  { flag: '--clock <time>', help: 'time at the start, RFC 3339', kind: instant },
  { flag: '--freeze', help: 'start with the clock stopped', kind: onOff },
  {
    flag: '--rpc-url <url>',
    help: 'use this development node instead of starting one',
    kind: { parse: httpUrl, mustBe: 'an http or https address' },
    secret: 'value',
  },
  { flag: '--rpc-port <n>', help: 'port of the new node; 0 for any free port', kind: port },
  {
    flag: '--block-time <seconds>',
    help: 'time between blocks; 0 mines each transaction at once',
    kind: seconds,
    default: '0',
  },
  {
    flag: '--database-url <url>',
    help: 'use this Postgres database instead of a file',
    kind: text,
    secret: 'value',
  },
  likeStart(startSettings.ownDomain, { otherwise: 'rewards.localhost' }),
  likeStart(startSettings.addressRequestsMax, { default: '0' }),
  likeStart(startSettings.errorDialect),
  likeStart(startSettings.logLevel, { default: 'warn' }),
] satisfies Setting<unknown>[];

/**
 * Variables of serve have names of their own, so that a shell with production's variables cannot point it at
 * production's ledger.
 */
export const serveSettings: readonly Setting<unknown>[] = rows.map((row) => ({
  ...row,
  variablePrefix: 'REWARDS_DEV_',
}));

/** The folder of a stack's data, for commands that work on it. */
export const persistToOptions = () =>
  serveSettings.filter(({ flag }) => flag.startsWith('--persist-to')).map(settingOption);
