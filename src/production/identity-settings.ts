/** The rows of the settings of `rewards start` that concern users' tokens, and where people look at transactions. */
import { choice, list, text } from '../lib/setting.ts';
import { type Fault, fault } from './setting-forms.ts';
import { emulatedProblem } from './start-errors.ts';
import { asksApi, type Others, setting } from './start-setting.ts';

/** A relay needs an identity provider for its users, and an explorer's address for its answers. */
const relays = (config: Others) => config.identity === 'oidc' && asksApi(config);

/** Answers about relayed calls and mints name the page of their transaction. */
const showsTransactions = (config: Others) =>
  relays(config) || (config.payments === 'stripe' && asksApi(config));

/** The check of an address that only some services use. */
const webAddress =
  (isUsed: (config: Others) => boolean) =>
  (value: string | undefined, name: string, config: Others): Fault[] => {
    if (value === undefined || !isUsed(config)) return [];
    // Traffic inside this machine needs no TLS.
    const isUrl = /^(?:https:\/\/.|http:\/\/(?:127\.0\.0\.1|localhost)(?::|\/|$))/.test(value);
    if (isUrl && URL.canParse(value)) return [];
    return [fault(`${name} is not an https address`, 'write it with its scheme, such as https://id.example')];
  };

export const identitySettings = {
  /** oidc: a provider's tokens, verified by the keys that it publishes. */
  identity: setting('--identity <provider>', choice('none', 'oidc', 'emulated'), 'who vouches for users', {
    default: 'none',
    unsafe: emulatedProblem('identity'),
  }),
  identityIssuer: setting(
    '--identity-issuer <url>',
    text,
    'issuer of the tokens, exactly as in their iss claim',
    { needed: relays, check: webAddress(relays), reach: 'issuer' },
  ),
  identityAudience: setting(
    '--identity-audience <name>',
    text,
    'audience that their aud claim must contain',
    {
      needed: relays,
    },
  ),
  identityJwksUrl: setting('--identity-jwks-url <url>', text, 'address of its keys', {
    otherwise: "from the issuer's discovery document",
    check: webAddress(relays),
    reach: 'issuer',
  }),
  identityTokenTypes: setting('--identity-token-type <type...>', list, 'accepted typ headers of tokens', {
    default: 'at+jwt,jwt',
  }),
  identityTokenScope: setting(
    '--identity-token-scope <rule>',
    choice('required', 'optional'),
    'whether tokens of other types than at+jwt need a scope, which identity tokens lack',
    { default: 'required' },
  ),
  identityWalletClaim: setting(
    '--identity-wallet-claim <claim>',
    text,
    "claim with the user's accounts; email: the wallet of that e-mail",
    { default: 'email' },
  ),
  explorerUrl: setting(
    '--explorer-url <url>',
    text,
    'where people can look at transactions; /tx/<hash> is appended',
    { needed: showsTransactions, check: webAddress(showsTransactions) },
  ),
};
