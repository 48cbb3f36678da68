/** Every problem that prevents `rewards start`, with its message and fix. */

export interface Problem {
  code: string;
  /** A sentence without capital and full stop, like `fix`, since one line may join several. */
  message: string;
  fix: string;
}

interface StartError {
  /** The exit code, by name. */
  exit: 'refused' | 'usage' | 'precondition' | 'temporary';
  message: string;
  fix: string;
}

const unsafe = (message: string, fix: string): StartError => ({ exit: 'precondition', message, fix });

/** Default texts; a check that knows more replaces them. */
export const startErrors = {
  E_DIFFERENCES: {
    exit: 'refused',
    message: 'ledger and chain differ',
    fix: 'look up each kind of difference in docs/operations.md: what it means, and what to do first',
  },
  E_PROBLEMS: {
    exit: 'refused',
    message: 'the doctor found problems',
    fix: 'follow the fix in each line',
  },
  E_DEPLOYMENT: {
    exit: 'precondition',
    message: 'the deployment cannot go on',
    fix: 'follow the message; the same command goes on where it was broken off',
  },
  E_KEYS_EXIST: {
    exit: 'precondition',
    message: 'the folder has keys already, and keys are never overwritten',
    fix: 'name another folder with --to',
  },
  E_SETTINGS: {
    exit: 'usage',
    message: 'a setting is missing or cannot be read',
    fix: 'give every setting that is named; `rewards start --help` lists them all',
  },
  E_START_DATABASE: {
    exit: 'temporary',
    message: 'the database does not answer yet',
    fix: 'let the supervisor start it again; check the address when that does not help',
  },
  E_START_RPC: {
    exit: 'temporary',
    message: 'no chain node answers yet',
    fix: 'let the supervisor start it again; check the addresses when that does not help',
  },
  E_DATABASE_REFUSED: unsafe(
    'the database does not let this user in',
    'check user, password and database name in the address',
  ),
  E_DATABASE_POOLER: unsafe(
    'a pooler gives each transaction another connection, and REWARDS_DATABASE_POOLER does not say so',
    'set REWARDS_DATABASE_POOLER=transaction; or pool_mode = session in pgbouncer.ini, and REWARDS_DATABASE_POOLER=session',
  ),
  E_DATABASE_UNPROTECTED: unsafe(
    "the database's connections lack a limit that keeps one process from holding up all others",
    'let the pooler pass SET on, or give the limit to the role with `alter role … set`',
  ),
  E_PROD_DEV_KEY: unsafe(
    'a key is published in documentation or tools',
    'make new keys; never use those of a development chain',
  ),
  E_PROD_DEV_CHAIN: unsafe(
    'chain 31337 is a development chain',
    'use the nodes of a real chain, or `rewards serve` for development',
  ),
  E_PROD_SQLITE: unsafe(
    'SQLite serves one process on one machine',
    'use a postgres:// address, or accept that with --allow-sqlite',
  ),
  E_PROD_SHARED_KEY: unsafe(
    'one key is used for two accounts',
    'give each a key of its own: two senders under one nonce stop each other',
  ),
  E_PROD_KEY_FILE: unsafe(
    'a file with a secret can be read by everybody on this machine',
    'run `chmod 0400` on the file; for a mounted secret, set its default mode to 0400',
  ),
  E_PROD_WRONG_CHAIN: unsafe(
    'the nodes, the settings and the ledger do not name the same chain',
    'use the nodes of the chain that the ledger was written for, or an empty database for another one',
  ),
  E_PROD_CONTRACTS: unsafe(
    'the contracts are not at the configured addresses',
    'check the four addresses and the deployment block',
  ),
  E_PROD_DEPLOYMENT_BLOCK: unsafe(
    'the contracts were not deployed in the configured block: what happened before it would never be read',
    'set REWARDS_DEPLOYMENT_BLOCK to the block in which the first of the contracts was deployed',
  ),
  E_PROD_ROLE: unsafe(
    'an account lacks its role on chain',
    'let the admin of the contracts grant it the role',
  ),
  E_PROD_RELAY_POWER: unsafe(
    "the account that pays users' gas has roles that its callers could misuse",
    'revoke its roles, or use another account',
  ),
  E_PROD_TLS: unsafe(
    'NODE_TLS_REJECT_UNAUTHORIZED=0 turns off the check of certificates',
    'unset it; give a certificate of your own with NODE_EXTRA_CA_CERTS',
  ),
  E_PROD_SINGLE_RPC: unsafe(
    'there is one chain node and nothing to fall back on',
    'give a second address in REWARDS_RPC_URL, or accept that with --allow-single-rpc',
  ),
  E_PROD_PLAIN_RPC: unsafe(
    'a chain node on another machine is asked without TLS: whoever is between can show false deposits',
    'use an https address, or accept that with --allow-plain-rpc',
  ),
  E_PROD_NODE_AWAY: unsafe(
    'one of the chain nodes does not answer, so that there is nothing to fall back on; a start goes on with a warning',
    'check its address and the network; give another node in its place',
  ),
  E_PROD_PLAIN_DATABASE: unsafe(
    'Postgres on another machine is reached without TLS, or without a check of its certificate',
    'add sslmode=verify-full to its address, or accept that with --allow-plain-database',
  ),
  E_PROD_TRUST_PROXY: unsafe(
    'REWARDS_TRUST_PROXY trusts strangers: anybody can name any address as the caller, and plain HTTP as TLS',
    'name the addresses of your own proxies, or a network that only they are in',
  ),
  E_PROD_FEE_CAP: unsafe(
    'the chain asks more for gas than the service may offer, so nothing would be sent; a start goes on with a warning',
    'raise REWARDS_FEE_CAP_GWEI above what the chain asks, or wait until it asks less',
  ),
  E_PROD_GAS_MONEY: unsafe(
    'an account cannot pay for its next transaction; a start goes on with a warning',
    'send native currency to the account that is named',
  ),
  E_PROD_IDENTITY: unsafe(
    "the identity provider's keys cannot be had where the settings say; a start goes on with a warning",
    'compare REWARDS_IDENTITY_ISSUER with the `issuer` of its discovery document, and check the network',
  ),
  E_PROD_PAYMENTS: unsafe(
    'the payment processor does not answer as it should; a start goes on with a warning',
    'check the key, and whether this machine reaches api.stripe.com',
  ),
  E_PROD_EMULATED: unsafe(
    'a part is emulated',
    'use a real provider, or leave the part out; emulated parts belong to `rewards serve`',
  ),
  E_PROD_STRIPE_MODE: unsafe(
    'the Stripe key is of another mode than REWARDS_STRIPE_MODE says',
    'use the key of that mode, or set REWARDS_STRIPE_MODE=test for a service that moves no real money',
  ),
  E_PROD_EMULATOR_LEDGER: unsafe(
    'this ledger belongs to an emulator: it has an adjustable clock',
    'use the ledger of production; what `rewards serve` has written stays with `rewards serve`',
  ),
  E_PROD_LEDGER_BEHIND: unsafe(
    'the escrow has paid rewards that this ledger does not know',
    'use the ledger that belongs to this escrow, in its newest state; where that is lost, see what `rewards recover --plan` says; a new ledger needs an escrow of its own',
  ),
  E_RECOVERY_UNFINISHED: unsafe(
    'a recovery of this ledger is not finished: it was broken off, or nodes do not show what waits',
    'run `rewards recover --apply` again; it goes on where it was',
  ),
  E_RECOVERY_SERVICE_RUNS: unsafe(
    'a service uses this ledger',
    'stop every service that uses it; a process that is gone gives its accounts up within seconds',
  ),
  E_RECOVERY_WAITS: {
    exit: 'temporary',
    message: 'the chain is not far enough yet',
    fix: 'wait for the blocks that are named, then run it again',
  },
  E_RECOVERY_PENDING: {
    exit: 'temporary',
    message: 'nodes have transactions of our accounts that none of them shows',
    fix: 'wait until a block holds them, or ask a node that shows its pool; then run it again',
  },
  E_PROD_RETIRED_KEY: unsafe(
    'an account was retired in this ledger, and its key is to send again',
    'use a key of its own for this work; an account that was retired stays so',
  ),
  E_PROD_CLOCK: unsafe(
    "this machine's clock differs from the database's by more than 5 s",
    'set both clocks by NTP; `timedatectl` and `select now()` show them',
  ),
  E_PROD_WALLETS: unsafe(
    'the extended public key is not the one that gave users their wallets',
    'use the same extended public key for the life of the ledger',
  ),
} as const satisfies Record<string, StartError>;

/** Builds a problem from the table; `known` replaces its texts. */
export function problemOf(
  code: keyof typeof startErrors,
  known: Partial<Pick<Problem, 'message' | 'fix'>> = {},
): Problem {
  const { message, fix } = startErrors[code];
  return { code, message, fix, ...known };
}

/** The reason why production refuses a provider of this part. */
export const emulatedProblem = (part: string) => (provider: string) =>
  provider === 'emulated'
    ? problemOf('E_PROD_EMULATED', {
        message: `${part} ${part.endsWith('s') ? 'are' : 'is'} emulated`,
        fix: `leave REWARDS_${part.toUpperCase()} out, or name a real provider`,
      })
    : undefined;
