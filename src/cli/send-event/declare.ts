/** `rewards send-event`: its argument and options. */

import type { Catalog } from '../machine/catalog.ts';
import { gather, headerText, option } from '../machine/options.ts';

export function declareSendEvent({ parent, lazily }: Catalog): void {
  parent
    .command('send-event')
    .summary('send one customer event and show the reward, or why there is none')
    .description(
      'Sends one customer event. Brand and domain are those of the first brand of the stack that runs here, unless given.',
    )
    .argument('[type]', 'event type, such as account_creation; may stand in --file')
    .addOption(option('--user <email>', 'who gets the reward'))
    .addOption(option('--brand <id>', 'brand wallet address', { env: 'REWARDS_BRAND_ID' }))
    .addOption(option('--domain <domain>', 'where it happened', { env: 'REWARDS_DOMAIN' }))
    .addOption(option('--source-url <url>', 'the page on which it happened'))
    .addOption(
      option('--origin <origin>', 'Origin header, as a browser would send it', { parse: headerText }),
    )
    .addOption(option('--user-identifier <id>', 'e-mail or wallet address beside --user'))
    .addOption(option('--channel <id>', 'chat channel (metadata.channel_id)'))
    .addOption(option('--skip-cooldown', 'ask for no cooldown (metadata.skip_cooldown)'))
    .addOption(
      option('--set <path=value>', 'set a field; the value is JSON where it can be, else text; repeatable', {
        parse: gather,
      }),
    )
    .addOption(
      option('--set-string <path=value>', 'set a field to text, whatever it looks like; repeatable', {
        parse: gather,
      }),
    )
    .addOption(option('--file <path>', 'JSON body to start from; - reads standard input'))
    .addOption(
      option('--expect <answer>', 'succeed only on this answer: 200, 4xx, 429:cooldown, 409:duplicate'),
    )
    .addOption(
      option('--idempotency-key <key>', 'the same key gets the first answer again', { parse: headerText }),
    )
    .addOption(
      option('--api-key-file <path>', 'brand API key to send; - reads standard input', {
        env: 'REWARDS_API_KEY_FILE',
      }),
    )
    .addHelpText(
      'after',
      `
Examples:
  rewards send-event account_creation --user alice@demo.example
  rewards send-event form_submit --user bob@demo.example --set metadata.form=contact
  rewards send-event account_creation --user alice@demo.example --expect 429:cooldown`,
    )
    .action(lazily(async () => (await import('./run.ts')).sendEvent));
}
