/** `rewards site`: names, arguments and options. */
import { hooks } from '../../site/plugin/hooks.ts';
import { gather, option } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';

const USER = 'an e-mail, or a login of the site';
const NAME = 'login or e-mail of the user';

export function declareSite({ parent, lazily }: Catalog): void {
  const site = parent
    .command('site')
    .summary('let things happen on the demo site, test its connection, add users (emulator only)')
    .description(
      'The content site with the plugin, which `rewards serve` runs beside the service. It sends an event when something happens there, and shows users their streak, balance and perks.',
    );
  site
    .command('fire')
    .summary('let something happen on the site, and print what the service answered to each event')
    .argument('<hook>', 'what happens: see the list below')
    .addOption(option('--user <user>', `whom it is about: ${USER}`).makeOptionMandatory())
    .addOption(
      option('--set <metadata.field=value>', 'metadata that goes with the events; repeatable', {
        parse: gather,
      }),
    )
    .addHelpText(
      'after',
      `
Hooks:
${Object.entries(hooks)
  .map(([hook, meaning]) => `  ${hook.padEnd(16)} ${meaning}`)
  .join('\n')}
  and those of your own that the settings of the site list

Examples:
  rewards site fire comment_posted --user alice@demo.example
  rewards site fire order_completed --user bob --set metadata.order_total=20 --set metadata.order_id=7
Exits 1 when an event was refused, and when no event was sent.`,
    )
    .action(lazily(async () => (await import('../talk/site.ts')).fireHook));
  site
    .command('test')
    .summary('send a test event from the site, and say what to do about a failure')
    .addOption(option('--user <email>', "whose event it is [default: the site's first user]"))
    .addOption(
      option('--event <name>', 'the event, exactly as the brand names it [default: one of the site]'),
    )
    .addHelpText(
      'after',
      `
Examples:
  rewards site test
  rewards site test --user alice@demo.example --event social_share
Exits 1 when the service does not answer 200.`,
    )
    .action(lazily(async () => (await import('../talk/site.ts')).testSite));
  declareUsers(site, lazily);
}

function declareUsers(site: Catalog['parent'], lazily: Catalog['lazily']): void {
  const user = site.command('user').summary('the users of the site, and passwords of their programs');
  user
    .command('list')
    .summary('show who can log in')
    .action(lazily(async () => (await import('../talk/site.ts')).listUsers));
  user
    .command('add')
    .summary('add a user')
    .argument('<login>', '2 to 40 letters, digits, dots, hyphens and underscores')
    .argument('<email>', "the one identity of the user: balance, streak and perks are this e-mail's")
    .addOption(option('--display-name <name>', 'the name that pages show [default: the login]'))
    .addOption(option('--password-file <path>', 'a file with the password; - reads standard input'))
    .addOption(
      option('--role <role>', 'an administrator changes settings and publishes posts', {
        default: 'subscriber',
        choices: ['administrator', 'subscriber'],
      }),
    )
    .addHelpText(
      'after',
      `
Without a password the user logs in nowhere, and only programs act for them (\`app-password\`).

Example:
  printf dora-in-demo | rewards site user add dora dora@demo.example --password-file -`,
    )
    .action(lazily(async () => (await import('../talk/site.ts')).addUser));
  user
    .command('app-password')
    .summary("make a password for a user's programs; it is printed once")
    .argument('<user>', NAME)
    .addOption(option('--for <name>', 'what it is for', { default: 'command line' }))
    .addHelpText(
      'after',
      `
Example:
  curl -u "alice:$(rewards site user app-password alice)" -X POST http://127.0.0.1:8787/site/wp-json/rewards/v1/checkin`,
    )
    .action(lazily(async () => (await import('../talk/site.ts')).addApplicationPassword));
}
