/** Amounts of the chain's own coin, as people read them. */

const WEI_OF_COIN = 1e18;
const GWEI_OF_COIN = 1e9;
/** More digits than this are noise beside the price of gas. */
const DIGITS = 6;

const rounded = (coins: number) => String(Number(coins.toPrecision(DIGITS)));

/** `0.0123`; of wei, which may be more than a number holds. */
export const coinsOfWei = (wei: string): string => rounded(Number(wei) / WEI_OF_COIN);

export const coinsOfGwei = (gwei: number): string => rounded(gwei / GWEI_OF_COIN);
