/** `rewards keys new`. */
import { resolve } from 'node:path';
import type { Handler } from '../machine/context.ts';

export const newKeysCommand: Handler<{ to: string }> = async ({ runtime }, { to }) => {
  const { newKeys } = await import('../../production/contracts/new-keys.ts');
  const { secureRandom } = await import('../../lib/ids.ts');
  const made = await newKeys({ random: secureRandom(runtime.clock) }, resolve(runtime.cwd, to));
  return {
    ok: true,
    data: made,
    text: (style) =>
      [
        ...made.accounts.map(({ name, address, file }) => `${name.padEnd(9)} ${address}  ${style.dim(file)}`),
        `${'wallets'.padEnd(9)} ${made.walletsPath}/n, the first is ${made.firstWallet}  ${style.dim(made.xpubFile)}`,
        '',
        style.bold('The phrase of the users’ wallets. It is shown this once and stored nowhere:'),
        made.mnemonic,
      ].join('\n'),
  };
};
