/** `rewards webhooks sign|verify`: names, arguments and options. */
import { InvalidArgumentError } from 'commander';
import { durationMs, gather, headerText, instantMs, option } from '../../machine/options.ts';
import type { Catalog } from '../../machine/verb.ts';

export function declareSignatures({ parent, lazily }: Catalog): void {
  const secret = option(
    '--secret <secret>',
    "signing secret, whsec_… [default: the running stack's processor]",
    {
      env: 'REWARDS_WEBHOOK_SECRET',
    },
  );
  parent
    .command('sign')
    .summary("print a body's signatures, as the payment processor and this service make them")
    .argument('<file>', 'the body; - reads it from standard input')
    .addOption(secret)
    .addOption(
      option('--timestamp <time>', 'when it was signed: seconds since 1970, or 2030-01-01T00:00:00Z', {
        parse: secondsOrInstant,
      }).default(undefined, 'now'),
    )
    .addOption(option('--id <id>', "id of the message [default: the body's own]", { parse: headerText }))
    .addOption(
      option('--scheme <scheme>', 'only the headers of one side', { choices: ['processor', 'service'] }),
    )
    .addHelpText(
      'after',
      `
Examples:
  rewards webhooks sign --secret whsec_… event.json
  rewards webhooks sign --secret whsec_… --scheme processor event.json > headers
  curl -H @headers --data-binary @event.json https://shop.example/hook`,
    )
    .action(lazily(async () => (await import('../../talk/webhooks/signatures.ts')).signBody));
  parent
    .command('verify')
    .summary('say whether a signature verifies; --explain says which part of it fails')
    .argument('<file>', 'the body, byte for byte as it came; - reads it from standard input')
    .addOption(secret)
    .addOption(
      option(
        '-H, --header <header>',
        "a header that came with it, such as 'Stripe-Signature: t=…,v1=…'; several for Standard Webhooks",
        { parse: gather },
      ),
    )
    .addOption(option('--signature <value>', 'the signature alone; its form tells the scheme'))
    .addOption(
      option('--tolerance <duration>', 'how old or how far ahead its timestamp may be', {
        default: 300_000,
        parse: durationMs,
      }).default(300_000, '5m'),
    )
    .addOption(
      option('--at <time>', 'when it came, such as 2030-01-01T00:00:00Z', { parse: instantMs }).default(
        undefined,
        'now',
      ),
    )
    .addOption(option('--explain', 'each part: scheme, secret, body, timestamp', { default: false }))
    .addHelpText(
      'after',
      `
Examples:
  rewards webhooks verify --secret whsec_… -H 'Stripe-Signature: t=…,v1=…' event.json --explain
  rewards webhooks verify --secret whsec_… --signature 5257a869… body.json`,
    )
    .action(lazily(async () => (await import('../../talk/webhooks/signatures.ts')).verifyBody));
}

/** Seconds since 1970 from either writing. */
function secondsOrInstant(text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  try {
    return Math.floor(instantMs(text) / 1_000);
  } catch {
    throw new InvalidArgumentError('It must be seconds since 1970, or a time such as 2030-01-01T00:00:00Z.');
  }
}
