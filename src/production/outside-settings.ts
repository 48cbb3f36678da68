/** The rows of the settings of `rewards start` that concern what others run: users' tokens, the payment processor, and where people look at transactions. */
import { addresses, choice, list, oneLine, text } from '../lib/setting.ts';
import { emulatedProblem, problemOf } from './start-errors.ts';
import { asksApi, type Fault, fault, type Others, setting } from './start-setting.ts';

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

const STRIPE_API = 'https://api.stripe.com';

const takesPayments = (config: Others) => config.payments === 'stripe';
/** Events come to the processes that answer callers. */
const takesEvents = (config: Others) => takesPayments(config) && config.workers.includes('api');

/** Which mode a key says that it is of; undefined for what is not a key of an API. */
const modeOf = (key: string) => /^(?:sk|rk)_(test|live)_\w{8,}$/.exec(key)?.[1];

/** The rows of the settings of `rewards start` that concern the payment processor. */
export const paymentSettings = {
  payments: setting('--payments <provider>', choice('none', 'stripe', 'emulated'), 'who takes payments', {
    default: 'none',
    unsafe: emulatedProblem('payments'),
  }),
  stripeMode: setting(
    '--stripe-mode <mode>',
    choice('live', 'test'),
    'whether real money is moved; the secret key must be of this mode',
    { default: 'live' },
  ),
  stripeSecretKey: setting(
    '--stripe-secret-key-file <file>',
    oneLine,
    'file with the secret key of Stripe, or a restricted one that may write checkout sessions and read events and charges',
    {
      secret: 'file',
      needed: takesPayments,
      check: (key, name) =>
        modeOf(key ?? '') === undefined
          ? fault(
              `${name} is not a key of Stripe's API, which begins with sk_live_, sk_test_, rk_live_ or rk_test_`,
              'take the secret or a restricted key from the dashboard of Stripe, under Developers',
            )
          : undefined,
      reach: 'processor',
      unsafe(key, { payments, stripeMode }) {
        const mode = modeOf(key ?? '');
        if (payments !== 'stripe' || mode === undefined || mode === stripeMode) return undefined;
        const message = `the Stripe key is of the ${mode} mode, and REWARDS_STRIPE_MODE says ${stripeMode}`;
        return problemOf('E_PROD_STRIPE_MODE', { message });
      },
    },
  ),
  /** Two while Stripe rolls the old one over into a new one. */
  stripeWebhookSecrets: setting(
    '--stripe-webhook-secret-file <file...>',
    addresses,
    'file with the signing secret of the webhook endpoint at Stripe; two, one a line, while it is rolled',
    {
      secret: 'file',
      needed: takesEvents,
      check: (secrets, name) =>
        secrets.every((secret) => /^whsec_[\w+/=-]{16,}$/.test(secret))
          ? undefined
          : fault(
              `${name} is not a signing secret, which begins with whsec_`,
              'take it from the webhook endpoint in the dashboard of Stripe',
            ),
    },
  ),
  stripeApi: setting('--stripe-api <url>', text, 'where the API of Stripe is', {
    default: STRIPE_API,
    unsafe: (url, { payments }) =>
      payments !== 'stripe' || url.replace(/\/$/, '') === STRIPE_API
        ? undefined
        : problemOf('E_PROD_EMULATED', {
            message: `payments are emulated: REWARDS_STRIPE_API is not ${STRIPE_API}`,
            fix: 'leave REWARDS_STRIPE_API out',
          }),
  }),
};
