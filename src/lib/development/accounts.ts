/**
 * The emulator's accounts: Anvil's well-known test keys, each with one duty. Anyone can read these keys; never
 * fund them on a real chain.
 */

export const DEV_MNEMONIC = 'test test test test test test test test test test test junk';
const account = (index: number) => `m/44'/60'/0'/0/${index}` as const;

/** Paths of the service's own accounts. */
export const devPaths = {
  /** Deploys the contracts and administers them. */
  admin: account(0),
  /** Pays rewards. */
  payout: account(1),
  /** Mints for payments. */
  mint: account(2),
  /** Pays users' gas; holds nothing and may do nothing else. */
  relay: account(3),
  /** Redeems perks for users, and brings their terms on chain. */
  redemption: account(4),
} as const;

/** The brands' gas wallets grow under this path. */
export const DEV_GAS_WALLETS_PATH = "m/44'/60'/2'/0";

/** Users' wallets grow under this path; the server only ever sees its public half. */
export const DEV_WALLETS_PATH = "m/44'/60'/1'/0";
