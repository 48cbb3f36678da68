/** Chains whose money is worth nothing: `serve` works on these alone, and `start` on none of them. */

/** The chain ids that development nodes have by default. What is signed for them is valid on no real chain. */
export const DEVELOPMENT_CHAINS: readonly number[] = [31_337, 1_337];

export const isDevelopmentChain = (chainId: number) => DEVELOPMENT_CHAINS.includes(chainId);
