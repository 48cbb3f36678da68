/** `rewards send-event`: its argument and options. */

import { gather, headerText, option } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';

export function declareSendEvent({ parent, lazily }: Catalog): void {
  parent
    .command('send-event')
    .summary('send one customer event and show the reward, or the reason for the refusal')
    .description(
      'Sends one customer event. Brand and domain default to the first brand of the stack that runs here.',
    )
    .argument('[type]', 'event type, such as account_creation; --file may give it too')
    .addOption(option('--user <email>', 'e-mail of the user who gets the reward'))
    .addOption(option('--brand <brand>', 'id or domain of the brand', { env: 'REWARDS_BRAND_ID' }))
    .addOption(option('--domain <domain>', 'domain where the event happened', { env: 'REWARDS_DOMAIN' }))
    .addOption(option('--source-url <url>', 'page on which the event happened'))
    .addOption(
      option('--origin <origin>', 'Origin header, as a browser would send it', { parse: headerText }),
    )
    .addOption(option('--user-identifier <id>', 'e-mail or wallet address, in addition to --user'))
    .addOption(option('--channel <id>', 'chat channel (metadata.channel_id)'))
    .addOption(option('--skip-cooldown', 'ask to skip the cooldown (metadata.skip_cooldown)'))
    .addOption(
      option(
        '--set <path=value>',
        'set a field; a value that is valid JSON is taken as JSON, any other as text; repeatable',
        {
          parse: gather,
        },
      ),
    )
    .addOption(
      option(
        '--set-string <path=value>',
        'set a field to text, even when the value looks like JSON; repeatable',
        {
          parse: gather,
        },
      ),
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
    .action(lazily(async () => (await import('../talk/send-event.ts')).sendEvent));
}
