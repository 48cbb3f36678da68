/** What can keep `rewards start` from starting, and what those who run it can be told. */
import { exitCodes } from '../cli/machine/exit-codes.ts';

const refused = (message: string, fix: string) => ({
  exit: exitCodes.precondition,
  message,
  fix,
  retryable: false,
});

export const startErrors = {
  E_DIFFERENCES: {
    exit: exitCodes.refused,
    message: 'Ledger and chain differ.',
    fix: 'Look up each kind of difference in docs/operations.md: what it means, and what to do first.',
    retryable: false,
  },
  E_PROBLEMS: {
    exit: exitCodes.refused,
    message: 'Something is not as it should be.',
    fix: 'Each line says what to do.',
    retryable: false,
  },
  E_SETTINGS: {
    exit: exitCodes.usage,
    message: 'A setting is missing or cannot be read.',
    fix: 'Give every setting that is named; `rewards start --help` lists them all.',
    retryable: false,
  },
  E_START_DATABASE: {
    exit: exitCodes.temporary,
    message: 'The database does not answer yet.',
    fix: 'Let the supervisor start it again; check the address when that does not help.',
    retryable: true,
  },
  E_START_RPC: {
    exit: exitCodes.temporary,
    message: 'No chain node answers yet.',
    fix: 'Let the supervisor start it again; check the addresses when that does not help.',
    retryable: true,
  },
  E_DATABASE_REFUSED: refused(
    'The database does not let this user in.',
    'Check user, password and database name in the address.',
  ),
  E_PROD_DEV_KEY: refused(
    'A key is one that everybody knows.',
    'Make new keys; never use those of a development chain.',
  ),
  E_PROD_DEV_CHAIN: refused(
    'Chain 31337 is a development chain.',
    'Use the nodes of a real chain, or `rewards serve` for development.',
  ),
  E_PROD_SQLITE: refused(
    'SQLite serves one process on one machine.',
    'Use Postgres, or accept that with --allow-sqlite.',
  ),
  E_PROD_SHARED_KEY: refused(
    'One key is used for two accounts.',
    'Give each account a key of its own: two senders under one nonce stop each other.',
  ),
  E_PROD_KEY_FILE: refused(
    'A file with a private key can be read by everybody on this machine.',
    'Run `chmod 0400` on the file; for a mounted secret, set its default mode to 0400.',
  ),
  E_PROD_WRONG_CHAIN: refused(
    'The nodes, the settings and the ledger do not speak of the same chain.',
    'Use the nodes of the chain that the ledger was written for, or an empty database for another one.',
  ),
  E_PROD_CONTRACTS: refused(
    'The contracts are not where they are said to be.',
    'Check the four addresses and the deployment block.',
  ),
  E_PROD_ROLE: refused(
    'An account may not do its work on chain.',
    'Let the admin of the contracts grant it the role.',
  ),
  E_PROD_RELAY_POWER: refused(
    "The account that pays users' gas holds tokens or roles that its callers could misuse.",
    'Use an account with nothing but gas money; revoke its roles and move its tokens.',
  ),
  E_PROD_TLS: refused(
    'NODE_TLS_REJECT_UNAUTHORIZED=0 turns off the check of certificates.',
    'Unset it; give a certificate of your own with NODE_EXTRA_CA_CERTS.',
  ),
  E_PROD_SINGLE_RPC: refused(
    'There is one chain node and nothing to fall back on.',
    'Give a second address with --rpc-url-file, or accept that with --allow-single-rpc.',
  ),
  E_PROD_EMULATED: refused(
    'A part is emulated.',
    'Use a real provider, or leave the part out; emulated parts belong to `rewards serve`.',
  ),
  E_PROD_LEDGER_BEHIND: refused(
    'The escrow has paid rewards that this ledger does not know.',
    'Use the ledger that belongs to this escrow, in its newest state; a new ledger needs an escrow of its own.',
  ),
  E_PROD_WALLETS: refused(
    'The extended public key is not the one that gave users their wallets.',
    'Use the same extended public key for the life of the ledger.',
  ),
} as const;
