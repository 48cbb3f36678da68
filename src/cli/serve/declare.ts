/** `rewards serve`: its settings, one row each. */
import type { Option } from 'commander';
import { choice, instant, list, onOff, port, type Setting, seconds, text } from '../../lib/setting.ts';
import type { Catalog } from '../machine/catalog.ts';
import { httpUrl, settingOption } from '../machine/options.ts';

export const serveSettings = [
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
  {
    flag: '--log-level <level>',
    help: 'lowest level of messages to show',
    kind: choice('debug', 'info', 'warn', 'error', 'silent'),
    default: 'warn',
  },
] satisfies Setting<unknown>[];

const serveOptions = (): Option[] => serveSettings.map(settingOption);

export function declareServe({ parent, lazily }: Catalog): void {
  const serve = parent
    .command('serve')
    .summary('run the whole service here, with its own chain and an adjustable clock')
    .description(
      'Runs the whole service on this machine, with its chain, until it is stopped. Other commands in the same directory find it automatically.',
    );
  for (const one of serveOptions()) serve.addOption(one);
  serve.action(lazily(async () => (await import('./run.ts')).serve));
}
