/** Options shared by the production commands; each setting is a row of production/settings.ts. */
import type { Option } from 'commander';
import { namesOf } from '../../lib/setting.ts';
import type { Secret } from '../../production/secrets.ts';
import { startRows, startSettings } from '../../production/settings.ts';
import { option, settingOption } from './options.ts';

export const startOptions = (): Option[] => startRows.map(([, row]) => settingOption(row));

/** The addresses of the ledger and a node. Commands run by hand may take an address on the command line. */
export interface LedgerOptions {
  databaseUrl?: string;
  databaseUrlFile?: string;
  allowSqlite: boolean;
  rpcUrl?: string;
  rpcUrlFile?: string[];
}

const { databaseUrl, allowSqlite, rpcUrls } = startSettings;

export const ledgerOptions = (): Option[] => [
  option('--database-url <url>', 'address of the database', { env: namesOf(databaseUrl).variable }),
  settingOption(databaseUrl),
  settingOption(allowSqlite),
];

export const nodeOptions = (): Option[] => [
  option('--rpc-url <url>', 'address of a chain node', { env: namesOf(rpcUrls).variable }),
  settingOption(rpcUrls),
];

/** The secrets with the addresses of the ledger and the nodes. */
export const ledgerSecrets = (options: LedgerOptions): Record<'database' | 'nodes', Secret> => ({
  database: options.databaseUrlFile ? { files: [options.databaseUrlFile] } : { value: options.databaseUrl },
  nodes: options.rpcUrlFile?.length ? { files: options.rpcUrlFile } : { value: options.rpcUrl },
});
