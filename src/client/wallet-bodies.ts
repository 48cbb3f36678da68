/** What the service answers about wallets. */

/** POST pregenerate-user. Contract: Pregenerated wallet. */
export interface PregeneratedBody {
  success: true;
  wallet_address: string;
  idp_user_id: string;
  /** True for the one call that made the wallet. */
  created_new: boolean;
  message: string;
}

/** GET user-balance. */
export interface BalanceBody {
  success: true;
  /** Whole RWT. */
  balance: number;
  walletAddress: string | null;
}

/** Of the control API; times are RFC 3339. */
export interface WalletBody {
  /** How rewards know the user: an e-mail, a stand-in for one, or an address. */
  user: string;
  address: string;
  /** Place in the key tree; null for an address of their own. */
  index: number | null;
  createdAt: string;
  identities: {
    provider: string;
    providerUserId: string;
    username: string | null;
    idpUserId: string;
    createdAt: string;
  }[];
}
