/** The rows of the settings of `rewards start` that concern the payment processor. */
import { addresses, choice, oneLine, text } from '../lib/setting.ts';
import { fault } from './setting-forms.ts';
import { emulatedProblem, problemOf } from './start-errors.ts';
import { type Others, setting } from './start-setting.ts';

const STRIPE_API = 'https://api.stripe.com';

const takesPayments = (config: Others) => config.payments === 'stripe';
/** Events come to the processes that answer callers. */
const takesEvents = (config: Others) => takesPayments(config) && config.workers.includes('api');

/** Which mode a key says that it is of; undefined for what is not a key of an API. */
const modeOf = (key: string) => /^(?:sk|rk)_(test|live)_\w{8,}$/.exec(key)?.[1];

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
