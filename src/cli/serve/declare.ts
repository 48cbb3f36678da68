/** `rewards serve`: its options. */
import type { Option } from 'commander';
import type { Catalog } from '../machine/catalog.ts';
import { httpUrl, instantMs, option, port, seconds } from '../machine/options.ts';

/** Every setting of `rewards serve`, once. */
export const serveOptions = (): Option[] => [
  option('-p, --port <n>', 'port; 0 for any that is free', { env: 'REWARDS_PORT', parse: port }).default(
    undefined,
    '8787',
  ),
  option('--split-hosts', 'a port for each host of the service', { env: 'REWARDS_SPLIT_HOSTS' }),
  option('--ephemeral', 'keep nothing', { env: 'REWARDS_EPHEMERAL' }),
  option('--persist-to <dir>', 'where to keep the data', { env: 'REWARDS_PERSIST_TO' }).default(
    undefined,
    '.rewards/state',
  ),
  option('--seed <file...>', 'brands, events and users', { env: 'REWARDS_SEED' }).default(
    undefined,
    'the demo brand',
  ),
  option('--clock <time>', 'time at the start, RFC 3339', { env: 'REWARDS_CLOCK', parse: instantMs }),
  option('--freeze', 'start with the clock stopped', { env: 'REWARDS_FREEZE' }),
  option('--rpc-url <url>', 'a development node of your own, in place of a new one', {
    env: 'REWARDS_RPC_URL',
    parse: httpUrl,
  }),
  option('--rpc-port <n>', 'port of the new node; 0 for any that is free', {
    env: 'REWARDS_RPC_PORT',
    parse: port,
  }),
  option('--block-time <seconds>', 'time between blocks; 0 for a block at once', {
    env: 'REWARDS_BLOCK_TIME',
    default: 0,
    parse: seconds,
  }),
  option('--database-url <url>', 'a Postgres database in place of a file', {
    env: 'REWARDS_DATABASE_URL',
  }),
  option('--log-level <level>', 'least important messages to show', {
    env: 'REWARDS_LOG_LEVEL',
    default: 'warn',
    choices: ['debug', 'info', 'warn', 'error', 'silent'],
  }),
];

export function declareServe({ parent, lazily }: Catalog): void {
  const serve = parent
    .command('serve')
    .summary('run the whole service here, with its own chain and an adjustable clock')
    .description(
      'Runs the whole service on this machine, with its chain, until it is stopped. Other commands in the same directory find it by themselves.',
    );
  for (const one of serveOptions()) serve.addOption(one);
  serve.action(lazily(async () => (await import('./run.ts')).serve));
}
