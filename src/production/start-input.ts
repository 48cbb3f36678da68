/** Turns the options of `rewards start` into the settings of production. */

import type { Runtime } from '../cli/machine/context.ts';
import { CliError } from '../cli/machine/errors.ts';
import { secretOptions } from '../cli/start/options.ts';
import type { Log } from '../lib/log.ts';
import type { Secret, StartInput, Worker } from './start-config.ts';

export interface DatabaseOptions {
  databaseUrlFile?: string;
  allowSqlite: boolean;
}

/** The same, and a node, where they may stand on the command line. */
export interface LedgerOptions extends DatabaseOptions {
  databaseUrl?: string;
  rpcUrl?: string;
  rpcUrlFile?: string[];
}

export interface StartOptions extends DatabaseOptions {
  rpcUrlFile?: string[];
  allowSingleRpc: boolean;
  chainId?: number;
  tokenAddress?: string;
  escrowAddress?: string;
  perksAddress?: string;
  pointsSaleAddress?: string;
  deploymentBlock?: number;
  payoutKeyFile?: string;
  mintKeyFile?: string;
  relayKeyFile?: string;
  walletsXpubFile?: string;
  workers: string;
  host: string;
  port: number;
  adminHost: string;
  adminPort: number;
  publicHost?: string[];
  trustProxy?: string[];
  ownDomain?: string;
  serviceName: string;
  apiPrefix: string;
  duplicateWindow: number;
  errorDialect: 'current' | 'earlier';
  payments: 'none' | 'emulated';
  identity: 'none' | 'oidc' | 'emulated';
  identityIssuer?: string;
  identityAudience?: string;
  identityJwksUrl?: string;
  identityTokenType: string[];
  identityWalletClaim: string;
  explorerUrl?: string;
  gasBudget: number;
  gasLow: number;
  gasFull: number;
  confirmations: number;
  finalityBlocks: number;
  blockPoll: number;
  inFlightMax: number;
  feeCapGwei: number;
  priorityFeeGwei: number;
  verifyEvery: number;
  drainTimeout: number;
}

export function startInput(runtime: Runtime, options: StartOptions, log: Log): StartInput {
  return {
    cwd: runtime.cwd,
    secrets: {
      databaseUrl: secretOf(runtime, 'databaseUrl', options.databaseUrlFile),
      rpcUrl: secretOf(runtime, 'rpcUrl', ...(options.rpcUrlFile ?? [])),
      payoutKey: secretOf(runtime, 'payoutKey', options.payoutKeyFile),
      mintKey: secretOf(runtime, 'mintKey', options.mintKeyFile),
      relayKey: secretOf(runtime, 'relayKey', options.relayKeyFile),
      walletsXpub: secretOf(runtime, 'walletsXpub', options.walletsXpubFile),
    },
    chainId: options.chainId,
    contracts: {
      token: options.tokenAddress,
      escrow: options.escrowAddress,
      perks: options.perksAddress,
      pointsSale: options.pointsSaleAddress,
    },
    deploymentBlock: options.deploymentBlock,
    allowSqlite: options.allowSqlite,
    allowSingleRpc: options.allowSingleRpc,
    host: options.host,
    port: options.port,
    adminHost: options.adminHost,
    adminPort: options.adminPort,
    publicHosts: options.publicHost ?? [],
    ownDomain: options.ownDomain,
    trustedProxies: options.trustProxy ?? [],
    workers: workersOf(options.workers),
    drainTimeoutMs: options.drainTimeout,
    verifyEveryMs: options.verifyEvery,
    blockPollMs: options.blockPoll,
    confirmations: options.confirmations,
    finalityBlocks: options.finalityBlocks,
    inFlightMax: options.inFlightMax,
    feeCapGwei: options.feeCapGwei,
    priorityFeeGwei: options.priorityFeeGwei,
    serviceName: options.serviceName,
    apiPrefix: options.apiPrefix,
    duplicateWindowMs: options.duplicateWindow,
    errorDialect: options.errorDialect,
    payments: options.payments,
    identity: options.identity,
    tokens: {
      issuer: options.identityIssuer,
      audience: options.identityAudience,
      jwksUrl: options.identityJwksUrl,
      types: options.identityTokenType,
      walletClaim: options.identityWalletClaim,
    },
    explorerUrl: options.explorerUrl,
    gas: { budget: options.gasBudget, low: options.gasLow, full: options.gasFull },
    tlsRejectUnauthorized: runtime.env.NODE_TLS_REJECT_UNAUTHORIZED,
    log,
  };
}

/** A file, when one is named, else the variable: nothing is read from two places. */
export function secretOf(
  { env }: Pick<Runtime, 'env'>,
  name: keyof typeof secretOptions,
  ...files: (string | undefined)[]
): Secret {
  const named = files.filter((file) => file !== undefined);
  return named.length > 0 ? { files: named } : { value: env[secretOptions[name].variable] };
}

/** The ledger and the nodes that a command run by hand was given. */
export const ledgerSecrets = (options: LedgerOptions): Record<'database' | 'nodes', Secret> => ({
  database: options.databaseUrlFile ? { files: [options.databaseUrlFile] } : { value: options.databaseUrl },
  nodes: options.rpcUrlFile?.length ? { files: options.rpcUrlFile } : { value: options.rpcUrl },
});

export const isGiven = ({ files, value }: Secret): boolean => Boolean(files?.length || value);

function workersOf(list: string): Worker[] {
  const workers = list
    .split(',')
    .map((word) => word.trim())
    .filter((word): word is Worker => word === 'api' || word === 'outbox');
  if (workers.length === 0 || workers.length !== list.split(',').length) {
    throw new CliError('E_USAGE', {
      message: `--workers ${list} is not understood.`,
      hint: 'It is api, outbox, or api,outbox.',
    });
  }
  return workers;
}
