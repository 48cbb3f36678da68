/** The port to a sending account's key: held here, or by a key service. */
import type { Address, Hex, TransactionSerializableEIP1559 } from 'viem';

export interface Signer {
  readonly address: Address;
  /** The whole signed transaction, ready to be sent. The same input gives the same bytes. */
  signTransaction(transaction: TransactionSerializableEIP1559): Promise<Hex>;
}
