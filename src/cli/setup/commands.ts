/** Commands that set brands and keys up. */
import { option } from '../machine/options.ts';
import { ledgerOptions } from '../machine/shared-options.ts';
import { from, type Verbs } from '../machine/verb.ts';
import { brandCommands } from './brand-commands.ts';
import { contractCommands } from './contract-commands.ts';
import { perkCommands } from './perk-commands.ts';

const init = from(() => import('./init.ts'));
const mint = from(() => import('./mint.ts'));
const seed = from(() => import('./seed.ts'));
const keys = from(() => import('./keys.ts'));

export const setupCommands: Verbs = {
  init: {
    summary: 'begin a project: a brand, a first scenario, and a workflow for CI',
    description:
      'Writes rewards.yaml (a brand with comments, for `rewards serve --seed`), scenarios/first.yaml (for `rewards scenario run`) and .github/workflows/rewards.yml, and adds .rewards/ to .gitignore. A file that exists is left as it is, and named.',
    takes: [['[dir]', 'folder of the project; made where it does not exist', '.']],
    help: '\nExample:\n  rewards init && rewards serve --seed rewards.yaml',
    run: init('init'),
  },
  ...brandCommands,
  ...perkCommands,
  mint: {
    summary: 'mint what a paid checkout bought, or create RWT for an account',
    usage: '<session> | --to <address> --amount <rwt>',
    takes: [
      ['[session]', 'processor’s id of a paid checkout, or latest on an emulator: payment-mint is called'],
    ],
    options: [
      option('--expect <answer>', 'with a session: succeed only on this answer: 200, 400'),
      option('--to <address>', 'without a session: the account that gets RWT, recorded with the reason'),
      option('--amount <rwt>', 'how much'),
      option('--reason <text>', 'why RWT is created; required in production'),
      ...ledgerOptions(),
    ],
    help: `
A session mints once, however often it is asked for. With --to, the emulator mints at once. In production the running service mints it, when it has a --mint-key-file.
\`rewards verify\` knows the mint; \`rewards brand fund\` mints into a brand's escrow.

Examples:
  rewards mint cs_test_…
  rewards mint latest --expect 400
  rewards mint --to 0x00000000000000000000000000000000000000c3 --amount 1000
  rewards mint --to 0x… --amount 5000 --reason "invoice 17" --database-url postgres://…`,
    run: mint('mint'),
  },
  seed: {
    summary: 'compare seed files with the running stack, or apply them',
    description:
      'Brands and rules of the files become what the files say; other brands and rules stay. A new brand gets its opening deposit, gas wallet and perks; those of an existing brand stay. `serve --seed` does the same at each start.',
    takes: [['[file...]', 'seed files; default: those that the stack was started with']],
    options: [
      option('--diff', 'only print what they would change; the default'),
      option('--apply', 'change it'),
    ],
    help: `
Examples:
  rewards seed shop.yaml
  rewards seed shop.yaml --apply`,
    run: seed('seed'),
  },
  keys: {
    summary: 'make the keys of a production service',
    verbs: {
      new: {
        summary: 'make keys for deployer, payout, mint and relay account, and the key tree of users’ wallets',
        description:
          'Writes each private key into a file of mode 0600, and the extended public key of users’ wallets beside them. Prints the phrase that those wallets grow from once, on stdout, and keeps it nowhere: write it down and store it offline. Overwrites nothing.',
        options: [option('--to <folder>', 'where the files go', { default: 'secrets' })],
        run: keys('newKeysCommand'),
      },
    },
  },
  ...contractCommands,
};
