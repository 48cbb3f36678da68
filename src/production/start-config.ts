/** What production is made from: settings as they were given, read, checked for form, and put into values. */
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ContractAddresses } from '../chain/contracts/deploy.ts';
import { PreconditionError } from '../compose/precondition.ts';
import type { Log } from '../lib/log.ts';

type Hex = `0x${string}`;

/** A secret is a file's first lines, or a value from the environment; never a flag, which everybody on the machine sees. */
export interface Secret {
  files?: string[] | undefined;
  value?: string | undefined;
}

export type Worker = 'api' | 'outbox';

/** Settings as the command line gives them; names and units are those of docs/operations.md. */
export interface StartInput {
  cwd: string;
  secrets: Record<'databaseUrl' | 'rpcUrl' | 'payoutKey' | 'mintKey' | 'relayKey' | 'walletsXpub', Secret>;
  chainId?: number | undefined;
  contracts: { [Contract in keyof ContractAddresses]?: string | undefined };
  deploymentBlock?: number | undefined;
  allowSqlite: boolean;
  allowSingleRpc: boolean;
  host: string;
  port: number;
  adminHost: string;
  adminPort: number;
  publicHosts: string[];
  ownDomain?: string | undefined;
  trustedProxies: string[];
  workers: Worker[];
  drainTimeoutMs: number;
  /** 0: never. */
  verifyEveryMs: number;
  /** How often the chain is asked for a new block. */
  blockPollMs: number;
  confirmations: number;
  finalityBlocks: number;
  inFlightMax: number;
  feeCapGwei: number;
  priorityFeeGwei: number;
  serviceName: string;
  apiPrefix: string;
  duplicateWindowMs: number;
  errorDialect: 'current' | 'earlier';
  payments: 'none' | 'emulated';
  /** oidc: a provider's tokens, verified by the keys that it publishes. */
  identity: 'none' | 'oidc' | 'emulated';
  tokens: {
    issuer?: string | undefined;
    audience?: string | undefined;
    jwksUrl?: string | undefined;
    types: string[];
    walletClaim: string;
  };
  explorerUrl?: string | undefined;
  /** In the chain's currency: a day's limit of a payer, and when and how far a gas wallet is topped up. */
  gas: { budget: number; low: number; full: number };
  /** NODE_TLS_REJECT_UNAUTHORIZED as it is set. */
  tlsRejectUnauthorized?: string | undefined;
  log: Log;
}

export interface StartConfig
  extends Omit<StartInput, 'cwd' | 'secrets' | 'contracts' | 'chainId' | 'deploymentBlock' | 'ownDomain'> {
  databaseUrl: string;
  rpcUrls: string[];
  keys: { payout?: Hex; mint?: Hex; relay?: Hex };
  /** Extended public key of the users' wallets; absent where no user is ever given one. */
  walletsXpub?: string | undefined;
  chainId: number;
  contracts: ContractAddresses;
  deploymentBlock: number;
  ownDomain: string;
  /** Files of private keys that everybody on the machine can read. */
  openKeyFiles: string[];
}

/** Reads files and values. Throws E_SETTINGS with everything that is missing or malformed, named by its variable. */
export async function readStartConfig(input: StartInput): Promise<StartConfig> {
  const { cwd, secrets, contracts, chainId, deploymentBlock, ...rest } = input;
  const problems: string[] = [];
  const openKeyFiles: string[] = [];
  const lines = (name: string, secret: Secret) => secretLines(cwd, { name, secret, problems });
  const key = async (name: string, secret: Secret): Promise<Hex | undefined> => {
    for (const file of secret.files ?? []) if (await isOpenToAll(resolve(cwd, file))) openKeyFiles.push(file);
    const [text] = await lines(name, secret);
    if (text === undefined) return undefined;
    const hex = text.startsWith('0x') ? text : `0x${text}`;
    if (/^0x[0-9a-f]{64}$/i.test(hex)) return hex.toLowerCase() as Hex;
    problems.push(`${name} is no private key: 64 hexadecimal digits`);
    return undefined;
  };
  const needed = <T>(name: string, value: T | undefined): T | undefined => {
    if (value === undefined) problems.push(`${name} is not set`);
    return value;
  };

  const [databaseUrl] = await lines('REWARDS_DATABASE_URL', secrets.databaseUrl);
  const rpcUrls = (await lines('REWARDS_RPC_URL', secrets.rpcUrl)).flatMap((line) => line.split(/\s*,\s*/));
  const [walletsXpub] = await lines('REWARDS_WALLETS_XPUB', secrets.walletsXpub);
  const keys = {
    payout: await key('REWARDS_PAYOUT_KEY', secrets.payoutKey),
    mint: await key('REWARDS_MINT_KEY', secrets.mintKey),
    relay: await key('REWARDS_RELAY_KEY', secrets.relayKey),
  };
  needed('REWARDS_DATABASE_URL', databaseUrl);
  if (databaseUrl && !/^(?:postgres(?:ql)?:\/\/|sqlite:)./.test(databaseUrl))
    problems.push('REWARDS_DATABASE_URL begins with neither postgres:// nor sqlite:');
  needed('REWARDS_RPC_URL', rpcUrls[0]);
  rpcUrls.forEach((url, place) => {
    if (!/^https?:\/\/./.test(url) || !URL.canParse(url))
      problems.push(`REWARDS_RPC_URL: address ${place + 1} is no http or https address`);
  });
  needed('REWARDS_CHAIN_ID', chainId);
  needed('REWARDS_DEPLOYMENT_BLOCK', deploymentBlock);
  const address = (name: string, text: string | undefined): Hex => {
    if (needed(name, text) !== undefined && !/^0x[0-9a-f]{40}$/i.test(text ?? ''))
      problems.push(`${name} is no address`);
    return (text ?? '0x') as Hex;
  };
  const addresses = {
    token: address('REWARDS_TOKEN_ADDRESS', contracts.token),
    escrow: address('REWARDS_ESCROW_ADDRESS', contracts.escrow),
    perks: address('REWARDS_PERKS_ADDRESS', contracts.perks),
    pointsSale: address('REWARDS_POINTS_SALE_ADDRESS', contracts.pointsSale),
  };
  if (input.workers.includes('outbox'))
    needed('REWARDS_PAYOUT_KEY', keys.payout ?? presence(secrets.payoutKey));
  if (input.workers.includes('api')) {
    needed('REWARDS_WALLETS_XPUB', walletsXpub);
    needed('REWARDS_PUBLIC_HOST', input.publicHosts[0]);
  }
  problems.push(...identityProblems(input));
  if (input.gas.full <= input.gas.low) problems.push('REWARDS_GAS_FULL must be more than REWARDS_GAS_LOW');
  if (walletsXpub && !/^[xt]pub[1-9A-HJ-NP-Za-km-z]{50,}$/.test(walletsXpub))
    problems.push('REWARDS_WALLETS_XPUB is no extended public key: it begins with xpub');
  if (problems.length > 0) throw settingsProblem(problems);
  return {
    ...rest,
    databaseUrl: databaseUrl ?? '',
    rpcUrls,
    keys: present(keys),
    walletsXpub,
    chainId: chainId ?? 0,
    contracts: addresses,
    deploymentBlock: deploymentBlock ?? 0,
    ownDomain: input.ownDomain ?? input.publicHosts[0] ?? '',
    openKeyFiles,
  };
}

/** What the relay needs to know whose call it is, and what to answer. */
function identityProblems({ identity, tokens, explorerUrl, workers }: StartInput): string[] {
  if (identity !== 'oidc' || !workers.includes('api')) return [];
  // What does not leave this machine needs no TLS.
  const isUrl = (text: string) =>
    /^(?:https:\/\/.|http:\/\/(?:127\.0\.0\.1|localhost)(?::|\/|$))/.test(text) && URL.canParse(text);
  const { issuer, audience, jwksUrl } = tokens;
  return [
    ...(issuer === undefined ? ['REWARDS_IDENTITY_ISSUER is not set'] : []),
    ...(issuer !== undefined && !isUrl(issuer) ? ['REWARDS_IDENTITY_ISSUER is no https address'] : []),
    ...(jwksUrl !== undefined && !isUrl(jwksUrl) ? ['REWARDS_IDENTITY_JWKS_URL is no https address'] : []),
    ...(audience === undefined ? ['REWARDS_IDENTITY_AUDIENCE is not set'] : []),
    ...(explorerUrl === undefined ? ['REWARDS_EXPLORER_URL is not set'] : []),
    ...(explorerUrl !== undefined && !isUrl(explorerUrl) ? ['REWARDS_EXPLORER_URL is no https address'] : []),
  ];
}

const settingsProblem = (problems: string[]) =>
  Object.assign(
    new PreconditionError({
      code: 'E_SETTINGS',
      message: problems.join('\n'),
      fix: 'Set them in the environment, or their _FILE variants; docs/operations.md explains each.',
    }),
    { details: { problems } },
  );

/** A key that was given and could not be read is complained about already. */
const presence = ({ files, value }: Secret) => (files?.length || value ? true : undefined);

const present = <T extends object>(record: T) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]?: Exclude<T[Key], undefined>;
  };

/** The lines of one secret. Throws E_SETTINGS when a file cannot be read. */
export async function readSecretLines(cwd: string, name: string, secret: Secret): Promise<string[]> {
  const problems: string[] = [];
  const lines = await secretLines(cwd, { name, secret, problems });
  if (problems.length > 0) throw settingsProblem(problems);
  return lines;
}

/** Every line of a secret's files and value, without blanks around it and without empty ones. */
async function secretLines(
  cwd: string,
  of: { name: string; secret: Secret; problems: string[] },
): Promise<string[]> {
  const { name, secret, problems } = of;
  const texts = secret.value === undefined ? [] : [secret.value];
  for (const file of secret.files ?? []) {
    try {
      texts.push(await readFile(resolve(cwd, file), 'utf8'));
    } catch (error) {
      problems.push(`${name}_FILE: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
    }
  }
  return texts
    .flatMap((text) => text.split(/\r?\n/))
    .map((line) => line.trim())
    .filter(Boolean);
}

/** Group members may read: that is how a cluster hands a secret to a process that is not root. */
async function isOpenToAll(path: string): Promise<boolean> {
  const file = await stat(path).catch(() => undefined);
  return file !== undefined && (file.mode & 0o007) !== 0;
}
