/**
 * THE table of the settings of `rewards start`, one row per setting. Options, help, variables, files of secrets,
 * `rewards config show`, the values of a StartConfig and their problems come from its row; a test compares
 * docs/operations.md with it. Every command line loads this file, so it imports as little as possible.
 */
import { isDevelopmentChain } from '../lib/development-chain.ts';
import {
  addresses,
  amount,
  choice,
  duration,
  list,
  oneLine,
  onOff,
  port,
  privateKey,
  shortName,
  text,
  wholeNumber,
} from '../lib/setting.ts';
import { isLoopback, isPrivatePostgres } from '../lib/url.ts';
import { paymentSettings } from './payment-settings.ts';
import { emulatedProblem, problemOf } from './start-errors.ts';
import { type Hex, isNetwork, type Others, type StartSetting, setting, workers } from './start-setting.ts';

const LARGEST = Number.MAX_SAFE_INTEGER;
/** Nodes of one's own keep that many of an account. */
export const IN_FLIGHT_MOST = 512;
const LOOPBACK = '127.0.0.1';

function contract(flag: string, help: string): StartSetting<Hex> {
  const isAddress = (value: string) => /^0x[0-9a-f]{40}$/i.test(value);
  return setting(flag, text as StartSetting<Hex>['kind'], help, {
    needed: true,
    // Checked here instead of by its kind, so that one run reports all problems.
    check: (value, name) => (isAddress(value) ? undefined : `${name} is not an address`),
  });
}

const asksApi = (config: Others) => config.workers.includes('api');
const asksOutbox = (config: Others) => config.workers.includes('outbox');
/** A relay needs an identity provider for its users, and an explorer's address for its answers. */
const relays = (config: Others) => config.identity === 'oidc' && asksApi(config);

/** Answers about relayed calls and mints name the page of their transaction. */
const showsTransactions = (config: Others) =>
  relays(config) || (config.payments === 'stripe' && asksApi(config));

/** The check of an address that only some services use. */
const webAddress =
  (isUsed: (config: Others) => boolean) =>
  (value: string | undefined, name: string, config: Others): string | undefined => {
    if (value === undefined || !isUsed(config)) return undefined;
    // Traffic inside this machine needs no TLS.
    const isUrl = /^(?:https:\/\/.|http:\/\/(?:127\.0\.0\.1|localhost)(?::|\/|$))/.test(value);
    return isUrl && URL.canParse(value) ? undefined : `${name} is not an https address`;
  };

/** The reason why production refuses a database. */
export const sqliteProblem = (url: string, { allowSqlite }: Pick<Others, 'allowSqlite'>) =>
  url.startsWith('sqlite:') && !allowSqlite ? problemOf('E_PROD_SQLITE') : undefined;

export const startSettings = {
  databaseUrl: setting(
    '--database-url-file <file>',
    oneLine,
    'file with the address of the database, postgres://…',
    {
      secret: 'file',
      needed: true,
      check: (url, name) =>
        /^(?:postgres(?:ql)?:\/\/|sqlite:)./.test(url)
          ? undefined
          : `${name} begins with neither postgres:// nor sqlite:`,
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
            : [`${name}: address ${place + 1} is not an http or https address`],
        ),
      unsafe: (urls, { allowSingleRpc, allowPlainRpc }) =>
        new Set(urls).size < 2 && !allowSingleRpc
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
    { secret: 'file', needed: asksOutbox },
  ),
  mintKey: setting(
    '--mint-key-file <file>',
    privateKey,
    'file with private key of the account that mints for payments',
    { secret: 'file', needed: (config) => config.payments === 'stripe' && asksOutbox(config) },
  ),
  redemptionKey: setting(
    '--redemption-key-file <file>',
    privateKey,
    'file with private key of the account that redeems perks and brings their terms on chain',
    { secret: 'file' },
  ),
  relayKey: setting(
    '--relay-key-file <file>',
    privateKey,
    "file with private key of the account that pays users' gas",
    { secret: 'file' },
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
          : `${name} is not an extended public key, which begins with xpub`,
    },
  ),
  workers: setting('--workers <list>', workers, 'what this process does: api, outbox, or both', {
    default: 'api,outbox',
  }),
  bindAddress: setting('--host <address>', text, 'where the API listens', { default: LOOPBACK }),
  port: setting('-p, --port <n>', port, 'its port; 0 for any free port', { default: '8787' }),
  adminBindAddress: setting('--admin-host <address>', text, 'where /livez, /readyz and /metrics are', {
    default: LOOPBACK,
  }),
  adminPort: setting('--admin-port <n>', port, 'their port; 0 for any free port', { default: '9464' }),
  connectionsMax: setting(
    '--connections-max <n>',
    wholeNumber(1, 1_000_000),
    'most connections to the API; further ones are closed at once',
    { default: '5000' },
  ),
  keepAliveMs: setting(
    '--keep-alive <duration>',
    duration,
    'how long an idle connection is kept; longer than the balancer in front keeps it',
    { default: '75s' },
  ),
  publicDomains: setting('--public-host <host...>', list, 'public host names of the API', {
    needed: asksApi,
  }),
  trustedProxies: setting(
    '--trust-proxy <network...>',
    list,
    'proxies whose headers about the caller and TLS are trusted',
  ),
  outgoingPorts: setting('--outgoing-port <port...>', list, 'ports beside 443 of the URLs that brands give', {
    check: (ports, name) =>
      ports.flatMap((one) => (port.parse(one) ? [] : [`${name}: ${one} is not a port from 1 to 65535`])),
  }),
  outgoingNetworks: setting(
    '--outgoing-network <network...>',
    list,
    'networks that are not public and that URLs of brands may lead to all the same',
    {
      check: (networks, name) =>
        networks.flatMap((one) =>
          isNetwork(one) ? [] : [`${name}: ${one} is not a network such as 10.1.0.0/16, or an address`],
        ),
    },
  ),
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
    { otherwise: 'the first public host' },
  ),
  serviceName: setting('--service-name <name>', shortName, 'name in DNS records: _<name>.<domain>', {
    default: 'rewards',
  }),
  apiPrefix: setting('--api-prefix <path>', text, "path in front of the event handler's endpoints", {
    default: '/rewards-api',
  }),
  duplicateWindowMs: setting(
    '--duplicate-window <duration>',
    duration,
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
  /** oidc: a provider's tokens, verified by the keys that it publishes. */
  identity: setting('--identity <provider>', choice('none', 'oidc', 'emulated'), 'who vouches for users', {
    default: 'none',
    unsafe: emulatedProblem('identity'),
  }),
  identityIssuer: setting(
    '--identity-issuer <url>',
    text,
    'issuer of the tokens, exactly as in their iss claim',
    { needed: relays, check: webAddress(relays) },
  ),
  identityAudience: setting(
    '--identity-audience <name>',
    text,
    'audience that their aud claim must contain',
    {
      needed: relays,
    },
  ),
  identityJwksUrl: setting('--identity-jwks-url <url>', text, 'address of its keys', {
    otherwise: "from the issuer's discovery document",
    check: webAddress(relays),
  }),
  identityTokenTypes: setting('--identity-token-type <type...>', list, 'accepted typ headers of tokens', {
    default: 'at+jwt,jwt',
  }),
  identityTokenScope: setting(
    '--identity-token-scope <rule>',
    choice('required', 'optional'),
    'whether tokens of other types than at+jwt need a scope, which identity tokens lack',
    { default: 'required' },
  ),
  identityWalletClaim: setting(
    '--identity-wallet-claim <claim>',
    text,
    "claim with the user's accounts; email: the wallet of that e-mail",
    { default: 'email' },
  ),
  explorerUrl: setting(
    '--explorer-url <url>',
    text,
    'where people can look at transactions; /tx/<hash> is appended',
    { needed: showsTransactions, check: webAddress(showsTransactions) },
  ),
  gasBudget: setting(
    '--gas-budget <amount>',
    amount,
    "what a brand's users may spend for gas in a day, in the chain's currency",
    { default: '10' },
  ),
  gasUserShare: setting(
    '--gas-user-share <percent>',
    wholeNumber(1, 100),
    'percent of that which one user may spend; one call a day is always allowed',
    { default: '5' },
  ),
  gasLow: setting('--gas-low <amount>', amount, "a brand's gas wallet is topped up below this balance", {
    default: '1',
  }),
  gasFull: setting('--gas-full <amount>', amount, 'its balance after a top-up', {
    default: '3',
    check: (full, name, { gasLow }) =>
      full > gasLow ? undefined : `${name} must be more than REWARDS_GAS_LOW`,
  }),
  confirmations: setting(
    '--confirmations <n>',
    wholeNumber(1, 10_000),
    'confirmations that a block needs before it is read, its own included',
    { default: '2' },
  ),
  finalityBlocks: setting(
    '--finality-blocks <n>',
    wholeNumber(1, 100_000),
    'depth at which a block counts as final',
    { default: '64' },
  ),
  blockPollMs: setting('--block-poll <duration>', duration, 'how often the chain is asked for a new block', {
    default: '1s',
  }),
  blockLagMaxMs: setting(
    '--block-lag-max <duration>',
    duration,
    'how long a block may stay unread before an alarm is raised and /readyz says so',
    { default: '1m' },
  ),
  checkEveryMs: setting(
    '--check-every <duration>',
    duration,
    'how often gas wallets and clocks are looked at, and how long a node that failed rests',
    { default: '10s' },
  ),
  inFlightMax: setting(
    '--in-flight-max <n>',
    wholeNumber(1, IN_FLIGHT_MOST),
    'most pending transactions of one account',
    { default: '16' },
  ),
  feeCapGwei: setting('--fee-cap-gwei <n>', amount, 'highest price offered for a unit of gas', {
    default: '100',
  }),
  priorityFeeGwei: setting('--priority-fee-gwei <n>', amount, 'priority fee offered to block builders', {
    default: '1',
  }),
  offerMax: setting(
    '--offer-max <amount>',
    amount,
    "most that one payout transaction offers for its gas, in the chain's currency; nodes refuse what is above a cap of theirs",
    { default: '0.9' },
  ),
  verifyEveryMs: setting(
    '--verify-every <duration>',
    duration,
    'how often ledger and chain are compared; 0s for never',
    { default: '1h' },
  ),
  // Soon, so that the figures are there; spread, since replicas that start together would all read the chain at once.
  verifyAfterMs: setting(
    '--verify-after <duration>',
    duration,
    'how long after a start they are first compared, at most; replicas spread over the last two thirds of it',
    { default: '45s' },
  ),
  tracesKeptMs: setting(
    '--traces-kept <duration>',
    duration,
    'how long requests can be looked up with `rewards requests`; 0s for never',
    { default: '7d' },
  ),
  startWaitMs: setting(
    '--start-wait <duration>',
    duration,
    'how long the checks of a start ask again while the database or the nodes do not answer',
    { default: '10s' },
  ),
  firstBlockWaitMs: setting(
    '--first-block-wait <duration>',
    duration,
    'how long a start waits for a new block, to check once more that the ledger is not an old copy before it sends',
    { default: '30s' },
  ),
  drainTimeoutMs: setting(
    '--drain-timeout <duration>',
    duration,
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
