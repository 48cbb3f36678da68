/** Options and arguments that several commands take; each setting is a row of production/settings.ts. */
import type { Option } from 'commander';
import { namesOf } from '../../lib/setting.ts';
import type { Secret } from '../../production/secrets.ts';
import { startRows, startSettings } from '../../production/settings.ts';
import { asGiven, durationMs, headerText, option, settingOption, wholeNumberOf } from './options.ts';

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

/** A user, as most commands name one. */
export const USER = 'an e-mail, an address, or <platform>:<id> such as discord:123456789012345678';
export const BRAND = 'its id or one of its domains';
export const FIRST_BRAND = 'id or domain of the brand [default: the first brand of the stack that runs here]';

export const brandOption = (what = FIRST_BRAND, flags = '--brand <brand>'): Option =>
  option(flags, what, { env: 'REWARDS_BRAND_ID' });

export const apiKeyOption = (
  what = 'brand API key, where the brand requires it; - reads standard input',
): Option => option('--api-key-file <path>', what, { env: 'REWARDS_API_KEY_FILE' });

/** `examples`: answers of the command, such as `200, 429`. */
export const expectOption = (examples: string): Option =>
  option('--expect <answer>', `succeed only on this answer: ${examples}`);

export const idempotencyKeyOption = (): Option =>
  option('--idempotency-key <key>', 'the same key gets the first answer again', { parse: headerText });

/** How many are printed. */
export const limitOption = (what: string, most: { default: number; least?: number }): Option =>
  option('-n, --limit <n>', what, { default: most.default, parse: wholeNumberOf(most.least ?? 1, 500) });

/** How long what is replaced still works; 0 ends it at once. */
export const overlapOption = (what: string): Option =>
  option('--overlap <duration>', what, {
    default: '24h',
    parse: (text: string) => (text === '0' ? text : asGiven(durationMs)(text)),
  });

/** For a screen reader, and for whoever wants no more than lines. */
export const plainOption = (what: string): Option => option('--plain', what, { env: 'REWARDS_PLAIN' });
