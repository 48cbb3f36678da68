/** `rewards checkout`: names, arguments and options. */
import type { Command } from 'commander';
import { asGiven, durationMs, headerText, option, wholeNumberOf } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';

const cents = wholeNumberOf(0, Number.MAX_SAFE_INTEGER);
const SESSION = 'id of the session, the id of the checkout that made it, or latest';

export function declareCheckout({ parent, lazily }: Catalog): void {
  const checkout = parent
    .command('checkout')
    .summary('begin payments, and play the buyer, the bank and the merchant')
    .description(
      'A checkout is paid on the page of the payment processor. The emulator has a processor of its own, with a page for each checkout below /_pay; all but create steer it and work on an emulator only.',
    );
  const silent = (command: Command) =>
    command.addOption(option('--no-webhook', 'recorded, but no endpoint hears of it'));
  declareCreate(checkout, lazily);
  silent(checkout.command('pay'))
    .summary('pay a checkout as its page would')
    .argument('<session>', SESSION)
    .addOption(
      option('--async', 'the payment arrives later, like a bank debit: complete, and unpaid until then'),
    )
    .addOption(
      option('--delay <duration>', 'how much later, on the clock of the emulator; the same as --async 1m', {
        parse: asGiven(durationMs),
      }),
    )
    .addOption(
      option(
        '--decline [code]',
        'the payment fails with this code; with --async when it should arrive',
      ).preset('generic_decline'),
    )
    .addHelpText(
      'after',
      `
Examples:
  rewards checkout pay latest
  rewards checkout pay latest --decline insufficient_funds
  rewards checkout pay cs_test_… --async --delay 2h && rewards clock advance 2h`,
    )
    .action(lazily(async () => (await import('../talk/checkout.ts')).payCheckout));
  silent(checkout.command('decline'))
    .summary('try to pay with a card that is declined; the checkout stays open')
    .argument('<session>', SESSION)
    .addOption(option('--code <code>', 'decline code', { default: 'generic_decline' }))
    .action(lazily(async () => (await import('../talk/checkout.ts')).declineCheckout));
  silent(checkout.command('expire'))
    .summary('end an open checkout before its 24 hours are over')
    .argument('<session>', SESSION)
    .action(lazily(async () => (await import('../talk/checkout.ts')).expireCheckout));
  silent(checkout.command('refund'))
    .summary('give a payment back, or a part of it')
    .argument('<session>', SESSION)
    .addOption(option('--amount <cents>', 'how much [default: all that is left]', { parse: cents }))
    .addOption(
      option('--reason <reason>', 'why', { choices: ['duplicate', 'fraudulent', 'requested_by_customer'] }),
    )
    .action(lazily(async () => (await import('../talk/checkout.ts')).refundCheckout));
  silent(checkout.command('dispute'))
    .summary('let the buyer’s bank ask the money back')
    .argument('<session>', SESSION)
    .addOption(option('--reason <reason>', 'why', { default: 'fraudulent' }))
    .action(lazily(async () => (await import('../talk/checkout.ts')).disputeCheckout));
  checkout
    .command('show')
    .summary('show how a checkout stands, and what its processor has told about it')
    .argument('<session>', SESSION)
    .action(lazily(async () => (await import('../talk/checkout.ts')).showCheckout));
  checkout
    .command('list')
    .summary('list the checkouts, the newest first')
    .addOption(option('--status <status>', 'only these', { choices: ['open', 'complete', 'expired'] }))
    .addOption(option('--limit <n>', 'at most this many', { default: 20, parse: wholeNumberOf(1, 500) }))
    .action(lazily(async () => (await import('../talk/checkout.ts')).listCheckouts));
}

function declareCreate(checkout: Command, lazily: Catalog['lazily']): void {
  checkout
    .command('create')
    .summary('begin a payment that buys RWT for a brand; a dollar buys 1000')
    .addOption(option('--amount <cents>', 'US cents', { parse: cents }).makeOptionMandatory())
    .addOption(option('--user <email>', 'e-mail of the buyer').makeOptionMandatory())
    .addOption(
      option(
        '--brand <brand>',
        'id or domain of the brand [default: the first brand of the stack that runs here]',
        {
          env: 'REWARDS_BRAND_ID',
        },
      ),
    )
    .addOption(
      option('--success-url <url>', 'where the buyer comes back to [default: a page of the brand’s domain]'),
    )
    .addOption(option('--cancel-url <url>', 'the same for a buyer who does not pay'))
    .addOption(option('--currency <code>', 'currency of the amount', { default: 'usd' }))
    .addOption(
      option('--idempotency-key <key>', 'the same key gets the first answer again', { parse: headerText }),
    )
    .addOption(option('--expect <answer>', 'succeed only on this answer: 200, 400:invalid_event_data'))
    .addHelpText(
      'after',
      `
Examples:
  rewards checkout create --amount 500 --user alice@demo.example
  rewards checkout create --amount 2500 --user alice@demo.example -o json | jq -r .data.body.checkoutUrl`,
    )
    .action(lazily(async () => (await import('../talk/checkout.ts')).createCheckout));
}
