/**
 * THE table of what `rewards start` can be told: one row a setting. Options and help, variables and files of secrets,
 * `rewards config show`, the values of a StartConfig, and what is wrong with them come from its row;
 * docs/operations.md is held to it. It is part of every command line, so it loads next to nothing.
 */
import {
  amount,
  choice,
  duration,
  type Kind,
  list,
  namesOf,
  onOff,
  port,
  type Setting,
  shortName,
  text,
  wholeNumber,
} from '../lib/setting.ts';
import { type Problem, problemOf } from './start-errors.ts';

type Hex = `0x${string}`;
export type Worker = 'api' | 'outbox';

/** The values that the rows of other settings ask for. */
interface Others {
  workers: readonly Worker[];
  identity: string;
  gasLow: number;
  allowSqlite: boolean;
  allowSingleRpc: boolean;
}

export interface StartSetting<Value> extends Setting<Value> {
  /** A start without it is refused. */
  needed?: true | ((config: Others) => boolean);
  /** What is wrong with a value's form, beginning with the setting's `name`: parts of an E_SETTINGS. */
  check?(value: Value, name: string, config: Others): string | string[] | undefined;
  /** Why production must not run with a well-formed value. */
  unsafe?(value: Value, config: Others): Problem | undefined;
}

/** A row. Its value is always there when it has a default, is needed or is a list. */
function setting<Value>(
  row: StartSetting<Value> & ({ default: string } | { needed: true } | { kind: Kind<string[]> }),
): StartSetting<Value>;
function setting<Value>(row: StartSetting<Value>): StartSetting<Value | undefined>;
function setting<Value>(row: StartSetting<Value>): StartSetting<Value> {
  return row;
}

const LARGEST = Number.MAX_SAFE_INTEGER;
const LOOPBACK = '127.0.0.1';

/** The first line of a file. */
const oneLine: Kind<string> = { parse: (lines) => lines.split('\n')[0] };

const addresses: Kind<string[]> = { parse: (lines) => lines.split(/\n|\s*,\s*/), many: true };

export const privateKey: Kind<Hex> = {
  parse(lines) {
    const [line = ''] = lines.split('\n');
    const hex = line.startsWith('0x') ? line : `0x${line}`;
    return /^0x[0-9a-f]{64}$/i.test(hex) ? (hex.toLowerCase() as Hex) : undefined;
  },
  mustBe: 'a private key: 64 hexadecimal digits',
};

const workers: Kind<Worker[]> = {
  parse(words) {
    const known = words.split(',').map((word) => word.trim());
    return known.every((word): word is Worker => word === 'api' || word === 'outbox') ? known : undefined;
  },
  mustBe: 'api, outbox, or api,outbox',
  late: true,
};

function contract(flag: string, help: string): StartSetting<Hex> {
  const isAddress = (value: string) => /^0x[0-9a-f]{40}$/i.test(value);
  return setting<Hex>({
    flag,
    help,
    kind: text as Kind<Hex>,
    needed: true,
    // Here and not by its kind, so that everything wrong is said at once.
    check: (value, name) => (isAddress(value) ? undefined : `${name} is no address`),
  });
}

const asksApi = (config: Others) => config.workers.includes('api');
const asksOutbox = (config: Others) => config.workers.includes('outbox');
/** Who relays needs to know whose call it is, and what to answer. */
const relays = (config: Others) => config.identity === 'oidc' && asksApi(config);

function isWebAddress(value: string | undefined, name: string, config: Others): string | undefined {
  if (value === undefined || !relays(config)) return undefined;
  // What does not leave this machine needs no TLS.
  const isUrl = /^(?:https:\/\/.|http:\/\/(?:127\.0\.0\.1|localhost)(?::|\/|$))/.test(value);
  return isUrl && URL.canParse(value) ? undefined : `${name} is no https address`;
}

const emulated = (part: string) => (provider: string) =>
  provider === 'emulated'
    ? problemOf('E_PROD_EMULATED', {
        message: `${part} are emulated`,
        fix: `leave REWARDS_${part.toUpperCase()} out, or name a real provider`,
      })
    : undefined;

export const isDevelopmentChain = (chainId: number) => chainId === 31337 || chainId === 1337;

/** Why a database may not hold a production ledger. */
export const sqliteProblem = (url: string, { allowSqlite }: Pick<Others, 'allowSqlite'>) =>
  url.startsWith('sqlite:') && !allowSqlite ? problemOf('E_PROD_SQLITE') : undefined;

export const startSettings = {
  databaseUrl: setting({
    flag: '--database-url-file <file>',
    help: 'file with the address of the database, postgres://…',
    kind: oneLine,
    secret: 'file',
    needed: true,
    check: (url, name) =>
      /^(?:postgres(?:ql)?:\/\/|sqlite:)./.test(url)
        ? undefined
        : `${name} begins with neither postgres:// nor sqlite:`,
    unsafe: sqliteProblem,
  }),
  allowSqlite: setting({
    flag: '--allow-sqlite',
    help: 'accept sqlite:FILE in place of a Postgres address',
    kind: onOff,
    default: 'false',
  }),
  rpcUrls: setting({
    flag: '--rpc-url-file <file...>',
    help: 'file with addresses of chain nodes, one a line, the preferred first',
    kind: addresses,
    secret: 'file',
    needed: true,
    check: (urls, name) =>
      urls.flatMap((url, place) =>
        /^https?:\/\/./.test(url) && URL.canParse(url)
          ? []
          : [`${name}: address ${place + 1} is no http or https address`],
      ),
    unsafe: (urls, { allowSingleRpc }) =>
      new Set(urls).size < 2 && !allowSingleRpc ? problemOf('E_PROD_SINGLE_RPC') : undefined,
  }),
  allowSingleRpc: setting({
    flag: '--allow-single-rpc',
    help: 'accept a single chain node',
    kind: onOff,
    default: 'false',
  }),
  chainId: setting({
    flag: '--chain-id <n>',
    help: 'the chain that every node must be of',
    kind: wholeNumber(1, LARGEST),
    needed: true,
    unsafe: (chainId) =>
      isDevelopmentChain(chainId)
        ? problemOf('E_PROD_DEV_CHAIN', { message: `chain ${chainId} is a development chain` })
        : undefined,
  }),
  tokenAddress: contract('--token-address <address>', 'the RewardToken contract'),
  escrowAddress: contract('--escrow-address <address>', 'the BusinessEscrow contract'),
  perksAddress: contract('--perks-address <address>', 'the PerkNFT contract'),
  pointsSaleAddress: contract('--points-sale-address <address>', 'the PointsSale contract'),
  deploymentBlock: setting({
    flag: '--deployment-block <n>',
    help: 'the block in which the contracts were deployed',
    kind: wholeNumber(0, LARGEST),
    needed: true,
  }),
  payoutKey: setting({
    flag: '--payout-key-file <file>',
    help: 'file with private key of the account that pays rewards',
    kind: privateKey,
    secret: 'file',
    needed: asksOutbox,
  }),
  mintKey: setting({
    flag: '--mint-key-file <file>',
    help: 'file with private key of the account that mints for payments',
    kind: privateKey,
    secret: 'file',
  }),
  relayKey: setting({
    flag: '--relay-key-file <file>',
    help: "file with private key of the account that pays users' gas",
    kind: privateKey,
    secret: 'file',
  }),
  /** Absent where no user is ever given a wallet. */
  walletsXpub: setting({
    flag: '--wallets-xpub-file <file>',
    help: "file with extended public key of users' wallets",
    kind: oneLine,
    secret: 'file',
    needed: asksApi,
    check: (xpub, name) =>
      /^[xt]pub[1-9A-HJ-NP-Za-km-z]{50,}$/.test(xpub)
        ? undefined
        : `${name} is no extended public key: it begins with xpub`,
  }),
  workers: setting({
    flag: '--workers <list>',
    help: 'what this process does: api, outbox, or both',
    kind: workers,
    default: 'api,outbox',
  }),
  host: setting({
    flag: '--host <address>',
    help: 'where the API listens',
    kind: text,
    default: LOOPBACK,
  }),
  port: setting({
    flag: '-p, --port <n>',
    help: 'its port; 0 for any that is free',
    kind: port,
    default: '8787',
  }),
  adminHost: setting({
    flag: '--admin-host <address>',
    help: 'where /livez, /readyz and /metrics are',
    kind: text,
    default: LOOPBACK,
  }),
  adminPort: setting({
    flag: '--admin-port <n>',
    help: 'their port; 0 for any that is free',
    kind: port,
    default: '9464',
  }),
  publicHosts: setting({
    flag: '--public-host <host...>',
    help: 'names under which the world reaches the API',
    kind: list,
    needed: asksApi,
  }),
  trustedProxies: setting({
    flag: '--trust-proxy <network...>',
    help: 'proxies that may say who asked, and that it was over TLS',
    kind: list,
  }),
  ownDomain: setting({
    flag: '--own-domain <domain>',
    help: 'domain of the stand-in e-mails of chat users; never change it',
    kind: text,
    otherwise: 'the first public host',
  }),
  serviceName: setting({
    flag: '--service-name <name>',
    help: 'name in DNS records: _<name>.<domain>',
    kind: shortName,
    default: 'rewards',
  }),
  apiPrefix: setting({
    flag: '--api-prefix <path>',
    help: "path in front of the event handler's endpoints",
    kind: text,
    default: '/rewards-api',
  }),
  duplicateWindowMs: setting({
    flag: '--duplicate-window <duration>',
    help: 'time in which the same event again is a duplicate',
    kind: duration,
    default: '60s',
  }),
  errorDialect: setting({
    flag: '--error-dialect <dialect>',
    help: 'wording of a refused cooldown',
    kind: choice('current', 'earlier'),
    default: 'current',
  }),
  payments: setting({
    flag: '--payments <provider>',
    help: 'who takes payments',
    kind: choice('none', 'emulated'),
    default: 'none',
    unsafe: emulated('payments'),
  }),
  /** oidc: a provider's tokens, verified by the keys that it publishes. */
  identity: setting({
    flag: '--identity <provider>',
    help: 'who vouches for users',
    kind: choice('none', 'oidc', 'emulated'),
    default: 'none',
    unsafe: emulated('identity'),
  }),
  identityIssuer: setting({
    flag: '--identity-issuer <url>',
    help: 'issuer of the tokens, letter by letter as in their iss',
    kind: text,
    needed: relays,
    check: isWebAddress,
  }),
  identityAudience: setting({
    flag: '--identity-audience <name>',
    help: 'what must be in their aud',
    kind: text,
    needed: relays,
  }),
  identityJwksUrl: setting({
    flag: '--identity-jwks-url <url>',
    help: 'where its keys are',
    kind: text,
    otherwise: "as the issuer's discovery document says",
    check: isWebAddress,
  }),
  identityTokenTypes: setting({
    flag: '--identity-token-type <type...>',
    help: 'accepted typ headers of tokens',
    kind: list,
    default: 'at+jwt,jwt',
  }),
  identityWalletClaim: setting({
    flag: '--identity-wallet-claim <claim>',
    help: "claim with the user's accounts; email: the wallet of that e-mail",
    kind: text,
    default: 'email',
  }),
  explorerUrl: setting({
    flag: '--explorer-url <url>',
    help: 'where people can look at transactions; /tx/<hash> is appended',
    kind: text,
    needed: relays,
    check: isWebAddress,
  }),
  gasBudget: setting({
    flag: '--gas-budget <amount>',
    help: "what a brand's users may spend for gas on a day, in the chain's currency",
    kind: amount,
    default: '10',
  }),
  gasLow: setting({
    flag: '--gas-low <amount>',
    help: "a brand's gas wallet with less is topped up",
    kind: amount,
    default: '1',
  }),
  gasFull: setting({
    flag: '--gas-full <amount>',
    help: 'what it has after that',
    kind: amount,
    default: '3',
    check: (full, name, { gasLow }) =>
      full > gasLow ? undefined : `${name} must be more than REWARDS_GAS_LOW`,
  }),
  confirmations: setting({
    flag: '--confirmations <n>',
    help: 'blocks that a block needs before it is read, itself counted',
    kind: wholeNumber(1, 10_000),
    default: '2',
  }),
  finalityBlocks: setting({
    flag: '--finality-blocks <n>',
    help: 'depth from which a block is taken to stay',
    kind: wholeNumber(1, 100_000),
    default: '64',
  }),
  blockPollMs: setting({
    flag: '--block-poll <duration>',
    help: 'how often the chain is asked for a new block',
    kind: duration,
    default: '1s',
  }),
  inFlightMax: setting({
    flag: '--in-flight-max <n>',
    help: 'transactions of one account that no block holds yet',
    kind: wholeNumber(1, 64),
    default: '16',
  }),
  feeCapGwei: setting({
    flag: '--fee-cap-gwei <n>',
    help: 'most that is ever offered for a unit of gas',
    kind: amount,
    default: '100',
  }),
  priorityFeeGwei: setting({
    flag: '--priority-fee-gwei <n>',
    help: 'what builders of blocks are offered',
    kind: amount,
    default: '1',
  }),
  verifyEveryMs: setting({
    flag: '--verify-every <duration>',
    help: 'how often ledger and chain are compared; 0s for never',
    kind: duration,
    default: '1h',
  }),
  drainTimeoutMs: setting({
    flag: '--drain-timeout <duration>',
    help: 'how long a stop waits for requests under way',
    kind: duration,
    default: '25s',
  }),
  logLevel: setting({
    flag: '--log-level <level>',
    help: 'least important messages to show',
    kind: choice('debug', 'info', 'warn', 'error', 'silent'),
    default: 'info',
  }),
};

/** Every setting's value, under the name of its row. */
export type StartValues = {
  [Name in keyof typeof startSettings]: (typeof startSettings)[Name] extends StartSetting<infer Value>
    ? Value
    : never;
};

/** The same rows where one is like another. */
export const startRows = Object.entries(startSettings) as [keyof StartValues, StartSetting<unknown>][];

/** What is missing or malformed, in the order of the table, each named by its variable. */
export function formProblems(
  values: StartValues,
  isGiven: (row: StartSetting<unknown>) => boolean,
): string[] {
  return startRows.flatMap(([key, row]) => {
    const { variable } = namesOf(row);
    const value = values[key];
    if (value === undefined || (Array.isArray(value) && value.length === 0)) {
      const isNeeded = row.needed === true || row.needed?.(values);
      // A key that was given and is none is named already.
      return isNeeded && !(row.kind === privateKey && isGiven(row)) ? [`${variable} is not set`] : [];
    }
    return row.check?.(value, variable, values) ?? [];
  });
}

/** What is well-formed and unsafe. */
export const unsafeSettings = (values: StartValues): Problem[] =>
  startRows.flatMap(([key, row]) => row.unsafe?.(values[key], values) ?? []);
