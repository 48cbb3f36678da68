/** `rewards relay`: names, arguments and options. */

import { durationMs, headerText, option, wholeNumberOf } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';

const AS = 'the user: an e-mail, the name of a demo user such as alice, or <platform>:<id>';

const EXAMPLES = `
Examples:
  rewards relay perks purchaseFor me 1 50 --as alice --permit
  rewards relay token transferWithAuthorization me 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 5 --as alice
  rewards relay token approve me 5 --as alice --expect 403:function_not_allowed

\`rewards relay call --help\` lists the options of a call. transferWithAuthorization with from, to and value
alone is signed here, for an hour.`;

export function declareRelay({ parent, lazily }: Catalog): void {
  const relay = parent
    .command('relay')
    .summary('send a transaction on behalf of a user, without gas of their own')
    .description(
      'Has the relay call a contract for a user. The emulator issues the token, as a login would. This command signs what the user’s own wallet would sign, with the emulator’s development keys, which the service does not have.',
    )
    .addHelpText('after', EXAMPLES);
  relay
    // `call` is the default verb, so that people can leave the word out.
    .command('call', { isDefault: true })
    .summary('call a contract; the default when no other command is named')
    .argument('[contract]', 'token, perks, pointsSale or escrow; left out with --to and --data')
    .argument('[function]', 'its name, such as purchaseFor, or its whole signature')
    .argument('[args...]', 'one for each parameter; `me` stands for the user’s address')
    .addOption(option('--as <user>', AS))
    .addOption(
      option('--token <token>', 'access token, in place of one from the emulator; - reads standard input'),
    )
    .addOption(option('--to <address>', 'contract to call'))
    .addOption(option('--data <hex>', 'encoded call, for --to'))
    .addOption(option('--value <wei>', 'native currency to send along'))
    .addOption(
      option('--gas-limit <gas>', 'gas limit [default: an estimate]', { parse: wholeNumberOf(1, 1e9) }),
    )
    .addOption(option('--permit', 'sign a permit for the called contract and send it along'))
    .addOption(
      option(
        '--permit-value <amount>',
        'RWT that the permit allows [default: the call’s maxPrice or amount]',
      ),
    )
    .addOption(
      option('--permit-deadline <duration>', 'how long the permit is valid', { parse: durationMs }).default(
        3_600_000,
        '1h',
      ),
    )
    .addOption(
      option('--origin <origin>', 'Origin header [default: the domain of the brand]', { parse: headerText }),
    )
    .addOption(
      option(
        '--brand <brand>',
        'id or domain of the brand whose domain the call comes from [default: the first]',
        {
          env: 'REWARDS_BRAND_ID',
        },
      ),
    )
    .addOption(
      option('--idempotency-key <key>', 'the same key gets the first answer again', { parse: headerText }),
    )
    .addOption(option('--expect <answer>', 'succeed only on this answer: 200, 429:RATE_LIMIT_EXCEEDED, 403'))
    .addHelpText('after', EXAMPLES)
    .action(lazily(async () => (await import('../talk/relay.ts')).relayCall));
  relay
    .command('permit')
    .summary('sign a permit of a user, and print it')
    .addOption(option('--as <user>', AS).makeOptionMandatory())
    .addOption(option('--spender <contract>', 'a contract’s name, or an address').makeOptionMandatory())
    .addOption(option('--value <amount>', 'RWT that the permit allows').makeOptionMandatory())
    .addOption(
      option('--deadline <duration>', 'how long the permit is valid', { parse: durationMs }).default(
        3_600_000,
        '1h',
      ),
    )
    .addHelpText('after', '\nExample:\n  rewards relay permit --as alice --spender perks --value 100')
    .action(lazily(async () => (await import('../talk/relay-user.ts')).signPermit));
  relay
    .command('status')
    .summary('show the state of a relayed call')
    .argument('<hash>', 'its transaction hash')
    .action(lazily(async () => (await import('../talk/relay.ts')).relayStatus));
}
