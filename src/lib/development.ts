/**
 * What development works with and anyone can read, so that `start` can refuse it: the emulator's accounts (Anvil's
 * well-known test keys), its chains, and the secrets of its payment processor. Never fund the accounts on a real
 * chain.
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

// Chains whose money is worth nothing: `serve` works on these alone, and `start` on none of them.

/** The chain ids that development nodes have by default. What is signed for them is valid on no real chain. */
export const DEVELOPMENT_CHAINS: readonly number[] = [31_337, 1_337];

export const isDevelopmentChain = (chainId: number) => DEVELOPMENT_CHAINS.includes(chainId);

/**
 * Secrets of the emulated payment processor: the same in every stack, so that a program's own settings outlive it.
 * Anyone can read them; production refuses them.
 */
export const DEV_PROCESSOR = {
  /** Of the API, as a bearer token or the user of basic authentication. */
  secretKey: 'sk_test_rewards_emulator',
  /** What the events to our own endpoint are signed with. */
  webhookSecret: 'whsec_RewardsEmulatorEventsAreSignedWithThis',
} as const;
