/** `/_pay/{session}`: shows the checkout page, and takes its form. */
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { rootMessage } from '../../../lib/failures/root-cause.ts';
import type { Log } from '../../../lib/log.ts';
import type { PaymentIntent } from '../objects/payment-objects.ts';
import type { Session, SessionNotes } from '../objects/session-object.ts';
import { testCards } from '../objects/test-cards.ts';
import { paySession } from '../pay-session.ts';
import type { Records } from '../records.ts';
import { StripeError } from '../stripe-error.ts';
import { checkoutPage, checkoutPolicy, foreignPage, missingPage, successAddress } from './checkout-page.ts';

export interface CheckoutHostDeps {
  books: Records;
  log: Log;
  catchUp: () => Promise<void>;
  nudge: () => void;
}

/** An e-mail and a choice. */
const FORM_MAX_BYTES = 4 * 1024;

export function createCheckoutHost(deps: CheckoutHostDeps): Hono {
  const app = new Hono();
  app.use(async (_, next) => {
    await deps.catchUp();
    return next();
  });
  app.get('/_pay/:id', async (context) => {
    const view = await viewOf(deps, context.req.param('id'));
    return view
      ? html(context, checkoutPage(view), view.session)
      : html(context, missingPage(), undefined, 404);
  });
  app.post(
    '/_pay/:id',
    bodyLimit({
      maxSize: FORM_MAX_BYTES,
      onError: (context) => html(context, missingPage(), undefined, 413),
    }),
    (context) => (isOwnForm(context) ? pay(deps, context) : html(context, foreignPage(), undefined, 403)),
  );
  app.all('*', (context) => html(context, missingPage(), undefined, 404));
  app.onError((error, context) => {
    deps.log.error({ error: rootMessage(error) }, 'the checkout page failed');
    return context.text('The checkout page failed; the log of `rewards serve` says why.', 500);
  });
  return app;
}

/** The last decline is shown until the session is paid. */
async function viewOf({ books }: CheckoutHostDeps, id: string) {
  const entry = await books.find<Session, SessionNotes>('checkout.session', id);
  if (!entry) return undefined;
  const { body: session, notes } = entry;
  const intentId = session.payment_intent;
  const intent =
    session.status === 'open' && typeof intentId === 'string'
      ? await books.find<PaymentIntent>('payment_intent', intentId)
      : undefined;
  return { session, notes, problem: intent?.body.last_payment_error?.message };
}

/** Pays as the form says; then the shop's page follows, or this one again with what went wrong. */
async function pay(deps: CheckoutHostDeps, context: Context): Promise<Response> {
  const id = context.req.param('id') ?? '';
  const again = () => context.redirect(`/_pay/${encodeURIComponent(id)}`, 303);
  const form = new URLSearchParams(await context.req.text());
  const card = testCards.find(({ choice }) => choice === (form.get('method') ?? 'card'));
  const email = form.get('email') ?? undefined;
  // A browser sends neither: it has the choices and checks the address.
  if (!card || (email !== undefined && !/^[^\s\0@]{1,64}@[^\s\0@]{1,189}$/.test(email))) return again();
  try {
    const { session, declined } = await paySession(deps.books, id, { outcome: card.outcome, email });
    deps.nudge();
    return declined ? again() : context.redirect(successAddress(session), 303);
  } catch (error) {
    // Paid, expired or unknown: the page itself says it.
    if (error instanceof StripeError) return again();
    throw error;
  }
}

/** Browsers name the page that sends a form; other clients hold no buyer's session and need no guard. */
function isOwnForm({ req }: Context): boolean {
  const site = req.header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin') return false;
  const origin = req.header('origin');
  if (origin === undefined) return true;
  return URL.canParse(origin) && new URL(origin).host === req.header('host');
}

function html(
  context: Context,
  text: string,
  session?: Session,
  status: 200 | 403 | 404 | 413 = 200,
): Response {
  context.header('content-security-policy', checkoutPolicy(session));
  // A referrer of `no-referrer` would leave the form without its origin.
  context.header('referrer-policy', 'same-origin');
  context.header('x-content-type-options', 'nosniff');
  context.header('cache-control', 'no-store');
  return context.html(text, status);
}
