/** Accounts of the development mnemonic, with their keys. */
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { type HDAccount, type HDOptions, hdKeyToAccount } from 'viem/accounts';
import { DEV_MNEMONIC } from '../../../src/lib/development.ts';

// Turning a phrase into its seed is slow on purpose, so it is done once for all accounts.
const root = HDKey.fromMasterSeed(mnemonicToSeedSync(DEV_MNEMONIC));

/** Of viem, as its `mnemonicToAccount` gives it. */
export const devAccount = (at?: HDOptions): HDAccount => hdKeyToAccount(root, at);
