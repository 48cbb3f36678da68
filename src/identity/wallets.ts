/** The port to users' wallets: the service knows their addresses, and holds no key of them. */
export interface WalletTree {
  /** The address at a place of the operator's key tree; the same place always gives the same address. */
  addressAt(index: number): `0x${string}`;
}
