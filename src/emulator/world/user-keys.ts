/**
 * The keys of the emulator's users. Only the command line holds them, to sign what a user's own wallet would sign; the
 * server derives addresses from the public half and can open none of them.
 */

import { toHex } from 'viem';
import { mnemonicToAccount, privateKeyToAccount } from 'viem/accounts';
import type { TypedDataSigner } from '../../chain/contracts/token-signatures.ts';
import { DEV_MNEMONIC, DEV_WALLETS_PATH } from './dev-accounts.ts';

/** The signer of the wallet at a place of the key tree. */
export function developmentUsers(): (index: number) => TypedDataSigner {
  // The phrase becomes a seed once: that is slow on purpose.
  const users = mnemonicToAccount(DEV_MNEMONIC, { path: DEV_WALLETS_PATH }).getHdKey();
  return (index) => {
    const { privateKey } = users.deriveChild(index);
    if (!privateKey) throw new Error(`there is no key at ${index}`);
    const account = privateKeyToAccount(toHex(privateKey));
    return {
      address: account.address,
      signTypedData: (data) => account.signTypedData(data as Parameters<typeof account.signTypedData>[0]),
    };
  };
}
