/** `rewards keys new`: new keys, in files that only their owner can read. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keyTree, localKeySigner, phraseOf, privateKeyOf } from '../../chain/lane/local-key.ts';
import { PreconditionError } from '../../lib/failures/precondition.ts';
import type { Random } from '../../lib/ids.ts';
import { problemOf } from '../start-errors.ts';

/** The level above the addresses: `start` derives wallet n at this path and /n. */
export const WALLETS_PATH = "m/44'/60'/0'/0";
const ACCOUNTS = ['deployer', 'payout', 'mint', 'redemption', 'relay'] as const;
const KEY_BYTES = 32;

export interface NewKeys {
  /** The phrase that users' wallets grow from. It is nowhere but here. */
  mnemonic: string;
  walletsPath: string;
  walletsXpub: string;
  /** The first of the users' wallets, for comparison with another tool. */
  firstWallet: `0x${string}`;
  accounts: { name: (typeof ACCOUNTS)[number]; address: `0x${string}`; file: string }[];
  xpubFile: string;
}

/** Throws E_KEYS_EXIST, before anything is written, when one of the files is there. */
export async function newKeys({ random }: { random: Random }, folder: string): Promise<NewKeys> {
  const xpubFile = join(folder, 'wallets-xpub');
  const files = ACCOUNTS.map((name) => ({ name, file: join(folder, `${name}-key`) }));
  const there = [xpubFile, ...files.map(({ file }) => file)].filter((file) => existsSync(file));
  if (there.length > 0)
    throw new PreconditionError(problemOf('E_KEYS_EXIST', { message: `${there.join(', ')} exist already` }));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const mnemonic = phraseOf(random.bytes(KEY_BYTES));
  const tree = keyTree(mnemonic);
  const walletsXpub = tree.extendedPublicKeyAt(WALLETS_PATH);
  const accounts: NewKeys['accounts'] = [];
  for (const { name, file } of files) {
    const key = privateKeyOf(random.bytes(KEY_BYTES));
    await writeNew(file, key);
    accounts.push({ name, file, address: localKeySigner(key).address });
  }
  await writeNew(xpubFile, walletsXpub);
  const firstWallet = tree.signerAt(`${WALLETS_PATH}/0`).address;
  return { mnemonic, walletsPath: WALLETS_PATH, walletsXpub, firstWallet, accounts, xpubFile };
}

/** Never in the place of another file, and never readable by others, not even for a moment. */
const writeNew = (file: string, line: string) =>
  writeFile(file, `${line}\n`, { mode: 0o600, flag: 'wx', flush: true });
