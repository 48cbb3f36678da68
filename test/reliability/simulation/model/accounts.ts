/** Who sends, and whom it is for: the service's accounts on the model chain, its contracts, and users. */
import type { Hex } from 'viem';
import type { GasPayer } from '../../../../src/ledger/schema/relay.ts';

export const CHAIN_ID = 31_337;

export const ESCROW: Hex = '0x00000000000000000000000000000000000e5c20';
export const TOKEN: Hex = '0x0000000000000000000000000000000000070ce2';
export const CONTRACTS = {
  escrow: ESCROW,
  token: TOKEN,
  perks: '0x000000000000000000000000000000000000be2c',
  pointsSale: '0x00000000000000000000000000000000000005a1',
} as const;

export const PAYOUT_LANE: Hex = '0x000000000000000000000000000000000000a11e';

/** Mints for payments. */
export const MINT_LANE: Hex = '0x0000000000000000000000000000000000000113';

/** One brand has a gas wallet of its own; for the other, as for strangers, the service's sends. */
export const GAS_WALLETS: { payer: GasPayer; keyIndex: number | null; address: Hex }[] = [
  { payer: 'service', keyIndex: null, address: '0x000000000000000000000000000000000000ca50' },
  {
    payer: '0x00000000000000000000000000000000000b0a01',
    keyIndex: 0,
    address: '0x000000000000000000000000000000000000ca51',
  },
];

/** Accounts of users who ask for relayed calls. */
export const USERS: Hex[] = [
  '0x0000000000000000000000000000000000005e01',
  '0x0000000000000000000000000000000000005e02',
];

/** Redeems perks. */
export const REDEEM_LANE: Hex = '0x0000000000000000000000000000000000000ede';

/** Everything that the service sends from. */
export const OUR_ACCOUNTS: Hex[] = [
  PAYOUT_LANE,
  MINT_LANE,
  REDEEM_LANE,
  ...GAS_WALLETS.map(({ address }) => address),
];

/** The one perk that users redeem. */
export const PERK = {
  id: '00000000-0000-7000-8000-00000000be2c',
  tokenId: 1,
  cost: 10,
  brandId: '0x00000000000000000000000000000000000b0a01',
} as const;
