/**
 * THE table of the settings of `rewards start`, one row per setting. Options, help, variables, files of secrets,
 * `rewards config show`, the values of a StartConfig and their problems come from its row; a test compares
 * docs/operations.md with it. Every command line loads this file, so it imports as little as possible.
 */
import { isDevelopmentChain } from '../lib/development.ts';
import type { Hex } from '../lib/hex.ts';
import {
  addresses,
  choice,
  durationBetween,
  oneLine,
  onOff,
  privateKey,
  shortName,
  text,
  wholeNumber,
} from '../lib/setting.ts';
import { isLoopback, isPrivatePostgres } from '../lib/url.ts';
import { chainSettings } from './chain-settings.ts';
import { listenerSettings } from './listener-settings.ts';
import { identitySettings, paymentSettings } from './outside-settings.ts';
import { problemOf } from './start-errors.ts';
import {
  asksApi,
  asksOutbox,
  type Fault,
  fault,
  hostNameFault,
  isPathPrefix,
  type Others,
  type StartSetting,
  sameAddress,
  setting,
  workers,
} from './start-setting.ts';

const LARGEST = Number.MAX_SAFE_INTEGER;
/** Longest pause of a timer: beyond this its milliseconds no longer fit. */
const DAY_MS = 86_400_000;
const LONGEST_MS = 20 * DAY_MS;
const YEAR_MS = 365 * DAY_MS;

function contract(flag: string, help: string): StartSetting<Hex> {
  const isAddress = (value: string) => /^0x[0-9a-f]{40}$/i.test(value);
  return setting(flag, text as StartSetting<Hex>['kind'], help, {
    needed: true,
    // Checked here instead of by its kind, so that one run reports all problems.
    check: (value, name) =>
      isAddress(value)
        ? undefined
        : fault(
            `${name} is not an address`,
            'write 0x and 40 hexadecimal digits, as `rewards contracts deploy` printed it',
          ),
  });
}

/** The reason why production refuses a database. */
export const sqliteProblem = (url: string, { allowSqlite }: Pick<Others, 'allowSqlite'>) =>
  url.startsWith('sqlite:') && !allowSqlite ? problemOf('E_PROD_SQLITE') : undefined;

/** What is wrong with the form of a database's address. */
export function databaseFault(url: string, name: string): Fault | undefined {
  if (/^postgres(?:ql)?:\/\/./.test(url))
    return URL.canParse(url)
      ? undefined
      : fault(
          `${name} is not an address that can be read`,
          'write postgres://USER:PASSWORD@HOST/NAME, with special characters of the password as %23',
        );
  if (/^sqlite:./.test(url)) return undefined;
  return fault(
    `${name} begins with neither postgres:// nor sqlite:`,
    'write postgres://USER:PASSWORD@HOST/NAME?sslmode=verify-full',
  );
}

export const startSettings = {
  databaseUrl: setting(
    '--database-url-file <file>',
    oneLine,
    'file with the address of the database, postgres://…',
    {
      secret: 'file',
      needed: true,
      reach: 'database',
      check: databaseFault,
      unsafe: (url, config) =>
        sqliteProblem(url, config) ??
        (/^postgres/.test(url) && !config.allowPlainDatabase && !isPrivatePostgres(url)
          ? problemOf('E_PROD_PLAIN_DATABASE')
          : undefined),
    },
  ),
  allowPlainDatabase: setting(
    '--allow-plain-database',
    onOff,
    'accept Postgres on another machine without TLS',
    { default: 'false' },
  ),
  databasePooler: setting(
    '--database-pooler <mode>',
    choice('none', 'session', 'transaction'),
    'how a pooler in front of Postgres gives out connections',
    { default: 'none' },
  ),
  allowSqlite: setting('--allow-sqlite', onOff, 'accept sqlite:FILE in place of a Postgres address', {
    default: 'false',
  }),
  rpcUrls: setting(
    '--rpc-url-file <file...>',
    addresses,
    'file with addresses of chain nodes, one a line, the preferred first',
    {
      secret: 'file',
      needed: true,
      check: (urls, name) =>
        urls.flatMap((url, place) =>
          /^https?:\/\/./.test(url) && URL.canParse(url)
            ? []
            : fault(
                `${name}: address ${place + 1} is not an http or https address`,
                'write each with its scheme, such as https://node.example/key',
              ),
        ),
      reach: 'nodes',
      unsafe: (urls, { allowSingleRpc, allowPlainRpc }) =>
        new Set(urls.map(sameAddress)).size < 2 && !allowSingleRpc
          ? problemOf('E_PROD_SINGLE_RPC')
          : !allowPlainRpc && urls.some((url) => /^http:/i.test(url) && !isLoopback(url))
            ? problemOf('E_PROD_PLAIN_RPC')
            : undefined,
    },
  ),
  allowPlainRpc: setting('--allow-plain-rpc', onOff, 'accept chain nodes on other machines without TLS', {
    default: 'false',
  }),
  allowSingleRpc: setting('--allow-single-rpc', onOff, 'accept a single chain node', { default: 'false' }),
  rpcAnswerMaxMb: setting(
    '--rpc-answer-max <mb>',
    wholeNumber(1, 512),
    'largest answer of a node that is read, in MB; what is larger is asked for in parts',
    { default: '256' },
  ),
  chainId: setting('--chain-id <n>', wholeNumber(1, LARGEST), 'the chain that every node must be of', {
    needed: true,
    unsafe: (chainId) =>
      isDevelopmentChain(chainId)
        ? problemOf('E_PROD_DEV_CHAIN', { message: `chain ${chainId} is a development chain` })
        : undefined,
  }),
  contractsFile: setting(
    '--contracts-file <file>',
    text,
    'file that `rewards contracts deploy` wrote: chain, contracts and deployment block',
  ),
  tokenAddress: contract('--token-address <address>', 'the RewardToken contract'),
  escrowAddress: contract('--escrow-address <address>', 'the BusinessEscrow contract'),
  perksAddress: contract('--perks-address <address>', 'the PerkNFT contract'),
  pointsSaleAddress: contract('--points-sale-address <address>', 'the PointsSale contract'),
  deploymentBlock: setting(
    '--deployment-block <n>',
    wholeNumber(0, LARGEST),
    'the block in which the contracts were deployed',
    { needed: true },
  ),
  payoutKey: setting(
    '--payout-key-file <file>',
    privateKey,
    'file with private key of the account that pays rewards',
    { secret: 'file', needed: asksOutbox, reach: 'accounts' },
  ),
  mintKey: setting(
    '--mint-key-file <file>',
    privateKey,
    'file with private key of the account that mints for payments',
    {
      secret: 'file',
      needed: (config) => config.payments === 'stripe' && asksOutbox(config),
      reach: 'accounts',
    },
  ),
  redemptionKey: setting(
    '--redemption-key-file <file>',
    privateKey,
    'file with private key of the account that redeems perks and brings their terms on chain',
    { secret: 'file', reach: 'accounts' },
  ),
  relayKey: setting(
    '--relay-key-file <file>',
    privateKey,
    "file with private key of the account that pays users' gas",
    { secret: 'file', reach: 'accounts' },
  ),
  /** Absent where the service gives no wallets to users. */
  walletsXpub: setting(
    '--wallets-xpub-file <file>',
    oneLine,
    "file with extended public key of users' wallets",
    {
      secret: 'file',
      needed: asksApi,
      check: (xpub, name) =>
        /^[xt]pub[1-9A-HJ-NP-Za-km-z]{50,}$/.test(xpub)
          ? undefined
          : fault(
              `${name} is not an extended public key, which begins with xpub`,
              'give the line of wallets-xpub that `rewards keys new` wrote',
            ),
    },
  ),
  workers: setting('--workers <list>', workers, 'what this process does: api, outbox, or both', {
    default: 'api,outbox',
  }),
  ...listenerSettings,
  addressRequestsMax: setting(
    '--address-requests <n>',
    wholeNumber(0, LARGEST),
    "requests a minute that one address may send without a brand's key; 0 for any number",
    { default: '600' },
  ),
  ownDomain: setting(
    '--own-domain <domain>',
    text,
    'domain of the stand-in e-mails of chat users; never change it',
    {
      otherwise: 'the first public host',
      check: (domain, name) => (domain === undefined ? [] : hostNameFault(name, domain)),
    },
  ),
  serviceName: setting('--service-name <name>', shortName, 'name in DNS records: _<name>.<domain>', {
    default: 'rewards',
  }),
  apiPrefix: setting('--api-prefix <path>', text, "path in front of the event handler's endpoints", {
    default: '/rewards-api',
    check: (prefix, name) =>
      isPathPrefix(prefix)
        ? undefined
        : fault(
            `${name}: ${prefix} is not a path`,
            'write one such as /rewards-api: a slash, then letters, digits, - and _',
          ),
  }),
  duplicateWindowMs: setting(
    '--duplicate-window <duration>',
    durationBetween(0, YEAR_MS),
    'time in which the same event counts as a duplicate',
    { default: '60s' },
  ),
  errorDialect: setting(
    '--error-dialect <dialect>',
    choice('current', 'earlier'),
    'wording of a refused cooldown or duplicate',
    { default: 'current' },
  ),
  ...paymentSettings,
  ...identitySettings,
  ...chainSettings,
  verifyEveryMs: setting(
    '--verify-every <duration>',
    durationBetween(0, LONGEST_MS),
    'how often ledger and chain are compared; 0s for never',
    { default: '1h' },
  ),
  // Soon, so that the figures are there; spread, since replicas that start together would all read the chain at once.
  verifyAfterMs: setting(
    '--verify-after <duration>',
    durationBetween(0, LONGEST_MS),
    'how long after a start they are first compared, at most; replicas spread over the last two thirds of it',
    { default: '45s' },
  ),
  tracesKeptMs: setting(
    '--traces-kept <duration>',
    durationBetween(0, 10 * YEAR_MS),
    'how long requests can be looked up with `rewards requests`; 0s for never',
    { default: '7d' },
  ),
  tracesKeep: setting(
    '--traces-keep <which>',
    choice('all', 'decisions', 'sampled'),
    'which requests these are: all; those that decided about an event or a call, or failed; or all up to 100 a second and a share of more',
    { default: 'sampled' },
  ),
  startWaitMs: setting(
    '--start-wait <duration>',
    durationBetween(0, DAY_MS),
    'how long the checks of a start ask again while the database or the nodes do not answer',
    { default: '10s' },
  ),
  firstBlockWaitMs: setting(
    '--first-block-wait <duration>',
    durationBetween(0, DAY_MS),
    'how long a start waits for a new block, to check once more that the ledger is not an old copy before it sends',
    { default: '30s' },
  ),
  drainTimeoutMs: setting(
    '--drain-timeout <duration>',
    durationBetween(0, DAY_MS),
    'how long a stop waits for requests in progress',
    { default: '25s' },
  ),
  logLevel: setting(
    '--log-level <level>',
    choice('debug', 'info', 'warn', 'error', 'silent'),
    'lowest level of messages to show',
    { default: 'info' },
  ),
};

/** The key of `contracts deploy`, which `start` never needs. */
export const deployerKey: StartSetting<Hex | undefined> = setting(
  '--deployer-key-file <file>',
  privateKey,
  'file with private key of the account that signs and pays the deployment',
  { secret: 'file' },
);

/** The values of all settings, by row name. */
export type StartValues = {
  [Name in keyof typeof startSettings]: (typeof startSettings)[Name] extends StartSetting<infer Value>
    ? Value
    : never;
};

/** The same rows with one common type. */
export const startRows = Object.entries(startSettings) as [keyof StartValues, StartSetting<unknown>][];
