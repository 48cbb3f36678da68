/** `rewards receiver`: its options. */
import { InvalidArgumentError } from 'commander';
import { durationMs, httpUrl, option, port } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';

export function declareReceiver({ parent, lazily }: Catalog): void {
  parent
    .command('receiver')
    .summary("receive the payment processor's events, and pass paid sessions on to payment-mint")
    .description(
      'The receiver that a brand needs between the payment processor and this service. It verifies each signature on the bytes as they came, passes the session of a completed checkout on to payment-mint, and answers 200 when payment-mint has answered; until then the processor keeps the event and sends it again. Other events are only logged. Beside a running `rewards serve` it registers itself with the emulated processor.',
    )
    .addOption(
      option('-p, --port <n>', 'port to listen on; 0 for any free one', { default: 4242, parse: port }),
    )
    .addOption(option('--bind <address>', 'address to listen on', { default: '127.0.0.1' }))
    .addOption(
      option('--forward-to <url>', "address of payment-mint [default: the running stack's]", {
        parse: httpUrl,
      }),
    )
    .addOption(
      option(
        '--secret <secret>',
        "the endpoint's signing secret at the processor, whsec_… [default: the running stack's]",
        {
          env: 'REWARDS_WEBHOOK_SECRET',
        },
      ),
    )
    .addOption(
      option('--retry-delays <durations>', 'pauses before payment-mint is asked again after a 500', {
        default: [2_000, 4_000, 8_000],
        parse: durationList,
      }).default([2_000, 4_000, 8_000], '2s,4s,8s'),
    )
    .addOption(
      // Processors wait for ten seconds and more; a later answer would count as none.
      option(
        '--answer-within <duration>',
        'after this a delivery is answered 503 while payment-mint is asked on',
        {
          default: 8_000,
          parse: durationMs,
        },
      ).default(8_000, '8s'),
    )
    .addOption(option('--no-register', 'leave the emulated processor of a running stack alone'))
    .addHelpText(
      'after',
      `
Examples:
  rewards receiver
  rewards receiver --secret whsec_… --forward-to https://events.example/rewards-api/payment-mint`,
    )
    .action(lazily(async () => (await import('../talk/receiver.ts')).runReceiver));
}

function durationList(text: string): number[] {
  const parts = text.split(',').filter(Boolean);
  if (parts.length > 10) throw new InvalidArgumentError('It must be at most ten durations.');
  return parts.map((part) => durationMs(part.trim()));
}
