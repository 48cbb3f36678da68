/** `rewards token`: names, arguments and options. */

import { asGiven, durationMs, option } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';

export function declareToken({ parent, lazily }: Catalog): void {
  const token = parent
    .command('token')
    .summary("issue users' access tokens, and decode them")
    .description(
      'The emulator has an identity provider of its own. Its tokens follow the clock of the emulator; discovery is at /_idp/.well-known/openid-configuration, beside the control API.',
    );
  token
    .command('issue')
    .summary('print a token of a user, as a login would give')
    .addOption(
      option('--user <email>', 'e-mail of the user; a user without a wallet gets one').makeOptionMandatory(),
    )
    .addOption(
      option('--expires <duration>', 'how long the token is valid, by the emulator’s clock; up to 30d', {
        default: '1h',
        parse: asGiven(durationMs),
      }),
    )
    .addOption(option('--audience <name>', 'audience of the token [default: this service]'))
    .addHelpText(
      'after',
      `
Examples:
  rewards token issue --user alice@demo.example
  curl -H "Authorization: Bearer $(rewards token issue --user alice@demo.example)" …
  rewards token issue --user alice@demo.example --audience other   (one that must be refused)`,
    )
    .action(lazily(async () => (await import('../emulator/token.ts')).issueToken));
  token
    .command('decode')
    .summary('print a token’s claims, when it expires, and whether the service accepts it')
    .argument('<token>', 'the token; - reads it from standard input')
    .action(lazily(async () => (await import('../emulator/token.ts')).decodeToken));
  token
    .command('rotate-keys')
    .summary('make the emulator sign with a new key')
    .addOption(option('--revoke', 'tokens of the earlier keys end at once'))
    .action(lazily(async () => (await import('../emulator/token.ts')).rotateKeys));
}
