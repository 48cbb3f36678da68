/** Every setting of `rewards start`, once: its flag, its variable, its default. docs/operations.md is held to this list. */
import type { Option } from 'commander';
import { amount, durationMs, option, port, stackName, wholeNumberOf } from '../machine/options.ts';

const LARGEST = Number.MAX_SAFE_INTEGER;
const LOOPBACK = '127.0.0.1';

/** Secrets: a file on the command line or in NAME_FILE, or the value itself in NAME. */
export const secretOptions = {
  databaseUrl: secret('database-url', 'the address of the database, postgres://…'),
  rpcUrl: secret('rpc-url', 'addresses of chain nodes, one a line, the preferred first', true),
  payoutKey: secret('payout-key', 'private key of the account that pays rewards'),
  mintKey: secret('mint-key', 'private key of the account that mints for payments'),
  relayKey: secret('relay-key', "private key of the account that pays users' gas"),
  walletsXpub: secret('wallets-xpub', "extended public key of users' wallets"),
};

function secret(name: string, description: string, several = false) {
  const variable = `REWARDS_${name.toUpperCase().replaceAll('-', '_')}`;
  const flags = `--${name}-file <${several ? 'file...' : 'file'}>`;
  const made = () => option(flags, `file with ${description}`, { env: `${variable}_FILE` });
  return { variable, made };
}

/** Where the ledger is: enough for `rewards db`. */
export const databaseOptions = (): Option[] => [
  secretOptions.databaseUrl.made(),
  option('--allow-sqlite', 'accept sqlite:FILE in place of a Postgres address', {
    env: 'REWARDS_ALLOW_SQLITE',
    default: false,
  }),
];

/** The same for commands that are run by hand, where an address may stand on the command line. */
export const ledgerOptions = (): Option[] => [
  option('--database-url <url>', 'address of the database', { env: secretOptions.databaseUrl.variable }),
  ...databaseOptions(),
];
export const nodeOptions = (): Option[] => [
  option('--rpc-url <url>', 'address of a chain node', { env: secretOptions.rpcUrl.variable }),
  secretOptions.rpcUrl.made(),
];

export const startOptions = (): Option[] => [
  ...databaseOptions(),
  secretOptions.rpcUrl.made(),
  option('--allow-single-rpc', 'accept a single chain node', {
    env: 'REWARDS_ALLOW_SINGLE_RPC',
    default: false,
  }),
  option('--chain-id <n>', 'the chain that every node must be of', {
    env: 'REWARDS_CHAIN_ID',
    parse: wholeNumberOf(1, LARGEST),
  }),
  option('--token-address <address>', 'the RewardToken contract', { env: 'REWARDS_TOKEN_ADDRESS' }),
  option('--escrow-address <address>', 'the BusinessEscrow contract', { env: 'REWARDS_ESCROW_ADDRESS' }),
  option('--perks-address <address>', 'the PerkNFT contract', { env: 'REWARDS_PERKS_ADDRESS' }),
  option('--points-sale-address <address>', 'the PointsSale contract', {
    env: 'REWARDS_POINTS_SALE_ADDRESS',
  }),
  option('--deployment-block <n>', 'the block in which the contracts were deployed', {
    env: 'REWARDS_DEPLOYMENT_BLOCK',
    parse: wholeNumberOf(0, LARGEST),
  }),
  secretOptions.payoutKey.made(),
  secretOptions.mintKey.made(),
  secretOptions.relayKey.made(),
  secretOptions.walletsXpub.made(),
  option('--workers <list>', 'what this process does: api, outbox, or both', {
    env: 'REWARDS_WORKERS',
    default: 'api,outbox',
  }),
  option('--host <address>', 'where the API listens', { env: 'REWARDS_HOST', default: LOOPBACK }),
  option('-p, --port <n>', 'its port; 0 for any that is free', {
    env: 'REWARDS_PORT',
    default: 8787,
    parse: port,
  }),
  option('--admin-host <address>', 'where /livez, /readyz and /metrics are', {
    env: 'REWARDS_ADMIN_HOST',
    default: LOOPBACK,
  }),
  option('--admin-port <n>', 'their port; 0 for any that is free', {
    env: 'REWARDS_ADMIN_PORT',
    default: 9464,
    parse: port,
  }),
  option('--public-host <host...>', 'names under which the world reaches the API', {
    env: 'REWARDS_PUBLIC_HOST',
  }),
  option('--trust-proxy <network...>', 'proxies that may say who asked, and that it was over TLS', {
    env: 'REWARDS_TRUST_PROXY',
  }),
  option('--own-domain <domain>', 'domain of the stand-in e-mails of chat users; never change it', {
    env: 'REWARDS_OWN_DOMAIN',
  }).default(undefined, 'the first public host'),
  option('--service-name <name>', 'name in DNS records: _<name>.<domain>', {
    env: 'REWARDS_SERVICE_NAME',
    default: 'rewards',
    parse: stackName,
  }),
  option('--api-prefix <path>', "path in front of the event handler's endpoints", {
    env: 'REWARDS_API_PREFIX',
    default: '/rewards-api',
  }),
  option('--duplicate-window <duration>', 'time in which the same event again is a duplicate', {
    env: 'REWARDS_DUPLICATE_WINDOW',
    parse: durationMs,
  }).default(60_000, '60s'),
  option('--error-dialect <dialect>', 'wording of a refused cooldown', {
    env: 'REWARDS_ERROR_DIALECT',
    default: 'current',
    choices: ['current', 'earlier'],
  }),
  option('--payments <provider>', 'who takes payments', {
    env: 'REWARDS_PAYMENTS',
    default: 'none',
    choices: ['none', 'emulated'],
  }),
  option('--identity <provider>', 'who vouches for users', {
    env: 'REWARDS_IDENTITY',
    default: 'none',
    choices: ['none', 'oidc', 'emulated'],
  }),
  option('--identity-issuer <url>', 'issuer of the tokens, letter by letter as in their iss', {
    env: 'REWARDS_IDENTITY_ISSUER',
  }),
  option('--identity-audience <name>', 'what must be in their aud', { env: 'REWARDS_IDENTITY_AUDIENCE' }),
  option('--identity-jwks-url <url>', 'where its keys are', {
    env: 'REWARDS_IDENTITY_JWKS_URL',
  }).default(undefined, "as the issuer's discovery document says"),
  option('--identity-token-type <type...>', 'accepted typ headers of tokens', {
    env: 'REWARDS_IDENTITY_TOKEN_TYPE',
  }).default(['at+jwt', 'jwt'], 'at+jwt,jwt'),
  option(
    '--identity-wallet-claim <claim>',
    "claim with the user's accounts; email: the wallet of that e-mail",
    {
      env: 'REWARDS_IDENTITY_WALLET_CLAIM',
      default: 'email',
    },
  ),
  option('--explorer-url <url>', 'where people can look at transactions; /tx/<hash> is appended', {
    env: 'REWARDS_EXPLORER_URL',
  }),
  option(
    '--gas-budget <amount>',
    "what a brand's users may spend for gas on a day, in the chain's currency",
    {
      env: 'REWARDS_GAS_BUDGET',
      default: 10,
      parse: amount,
    },
  ),
  option('--gas-low <amount>', "a brand's gas wallet with less is topped up", {
    env: 'REWARDS_GAS_LOW',
    default: 1,
    parse: amount,
  }),
  option('--gas-full <amount>', 'what it has after that', {
    env: 'REWARDS_GAS_FULL',
    default: 3,
    parse: amount,
  }),
  option('--confirmations <n>', 'blocks that a block needs before it is read, itself counted', {
    env: 'REWARDS_CONFIRMATIONS',
    default: 2,
    parse: wholeNumberOf(1, 10_000),
  }),
  option('--finality-blocks <n>', 'depth from which a block is taken to stay', {
    env: 'REWARDS_FINALITY_BLOCKS',
    default: 64,
    parse: wholeNumberOf(1, 100_000),
  }),
  option('--block-poll <duration>', 'how often the chain is asked for a new block', {
    env: 'REWARDS_BLOCK_POLL',
    parse: durationMs,
  }).default(1_000, '1s'),
  option('--in-flight-max <n>', 'transactions of one account that no block holds yet', {
    env: 'REWARDS_IN_FLIGHT_MAX',
    default: 16,
    parse: wholeNumberOf(1, 64),
  }),
  option('--fee-cap-gwei <n>', 'most that is ever offered for a unit of gas', {
    env: 'REWARDS_FEE_CAP_GWEI',
    default: 100,
    parse: amount,
  }),
  option('--priority-fee-gwei <n>', 'what builders of blocks are offered', {
    env: 'REWARDS_PRIORITY_FEE_GWEI',
    default: 1,
    parse: amount,
  }),
  option('--verify-every <duration>', 'how often ledger and chain are compared; 0s for never', {
    env: 'REWARDS_VERIFY_EVERY',
    parse: durationMs,
  }).default(3_600_000, '1h'),
  option('--drain-timeout <duration>', 'how long a stop waits for requests under way', {
    env: 'REWARDS_DRAIN_TIMEOUT',
    parse: durationMs,
  }).default(25_000, '25s'),
  option('--log-level <level>', 'least important messages to show', {
    env: 'REWARDS_LOG_LEVEL',
    default: 'info',
    choices: ['debug', 'info', 'warn', 'error', 'silent'],
  }),
];
