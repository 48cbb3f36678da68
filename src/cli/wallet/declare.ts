/** `rewards wallet`: names, arguments and options. */

import { option } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';

const USER = 'an e-mail, an address, or <platform>:<id> such as discord:123456789012345678';
const BRAND = 'id or domain of the brand [default: the first brand of the stack that runs here]';

export function declareWallet({ parent, lazily }: Catalog): void {
  const wallet = parent
    .command('wallet')
    .summary('give users their wallets, and show balances')
    .description(
      'A user’s wallet is derived from the operator’s key tree at the first reward, login or registration, and never changes.',
    );
  wallet
    .command('pregenerate')
    .summary('give a user a wallet, or show the one they have')
    .argument('<user>', 'an e-mail, or <platform>:<id> such as discord:123456789012345678')
    .addOption(option('--username <name>', 'the user’s name on the platform [default: their id]'))
    .addOption(option('--brand <brand>', BRAND, { env: 'REWARDS_BRAND_ID' }))
    .addOption(
      option('--api-key-file <path>', 'brand API key, where the brand requires it; - reads standard input', {
        env: 'REWARDS_API_KEY_FILE',
      }),
    )
    .addOption(
      option('--expect <answer>', 'succeed only on this answer: 200, 429, 400:invalid_oauth_user_id'),
    )
    .addHelpText(
      'after',
      `
Examples:
  rewards wallet pregenerate discord:123456789012345678 --username alice
  rewards wallet pregenerate newcomer@demo.example`,
    )
    .action(lazily(async () => (await import('../talk/wallet.ts')).pregenerateWallet));
  wallet
    .command('show')
    .summary("show a user's address, place in the key tree and registrations (emulator only)")
    .argument('<user>', USER)
    .action(lazily(async () => (await import('../talk/wallet.ts')).showWallet));
  wallet
    .command('balance')
    .summary('show how many RWT a user holds on chain')
    .argument('<user>', USER)
    .addOption(option('--brand <brand>', BRAND, { env: 'REWARDS_BRAND_ID' }))
    .addHelpText('after', '\nExample:\n  rewards wallet balance alice@demo.example -o env')
    .action(lazily(async () => (await import('../talk/wallet.ts')).walletBalance));
}
