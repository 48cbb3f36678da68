/** The hosted checkout page: plain HTML that needs no script. Everything that a session brings along is escaped. */
import { createHash } from 'node:crypto';
import { lineItems, type Session, type SessionNotes } from '../objects/session-object.ts';
import { testCards } from '../objects/test-cards.ts';
import checkoutStyle from './checkout.css';

/** What the page shows of a session. */
export interface CheckoutView {
  session: Session;
  notes: Pick<SessionNotes, 'lines'>;
  /** Of the last attempt: what the buyer is told. */
  problem?: string | undefined;
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** Currencies whose smallest unit is the currency itself. */
const WHOLE_CURRENCIES = new Set(['jpy', 'krw', 'vnd', 'clp', 'isk']);

/** `$5.00` for 500 cents. */
export function formatAmount(amount: number, currency: string): string {
  const units = WHOLE_CURRENCIES.has(currency) ? amount : amount / 100;
  return new Intl.NumberFormat('en-US', { style: 'currency', currency: currency.toUpperCase() }).format(
    units,
  );
}

/** Where a buyer goes after the payment, in a form that fits into a header. */
export const successAddress = ({ id, success_url: url }: Session): string =>
  new URL((url ?? '').replaceAll('{CHECKOUT_SESSION_ID}', id)).href;

/**
 * Lets the page have its style, send its form back to us and from there to the shop: browsers hold the redirect after
 * a form against `form-action` as well.
 */
export function checkoutPolicy(session?: Session): string {
  const shop = session ? [session.success_url, session.cancel_url] : [];
  const origins = new Set(shop.flatMap((url) => (url && URL.canParse(url) ? [new URL(url).origin] : [])));
  return [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(checkoutStyle).digest('base64')}'`,
    'img-src data:',
    "base-uri 'none'",
    `form-action ${["'self'", ...origins].join(' ')}`,
    "frame-ancestors 'none'",
  ].join('; ');
}

const page = (title: string, main: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<style>${checkoutStyle}</style>
</head>
<body>
<main>
<p class="mode">Test payment: no money moves</p>
${main}
</main>
<footer>The emulated payment processor of <code>rewards serve</code></footer>
</body>
</html>
`;

export const missingPage = () =>
  page(
    'Checkout not found',
    '<h1 class="over">Checkout not found</h1>\n<p>The address may be incomplete, or the stack that made it was reset. Go back to the shop and start again.</p>',
  );

export const foreignPage = () =>
  page(
    'Not accepted',
    '<h1 class="over">Not accepted</h1>\n<p>Another site sent this payment. Open the checkout itself to pay.</p>',
  );

export function checkoutPage(view: CheckoutView): string {
  const { session } = view;
  if (session.status === 'complete') return completePage(session);
  if (session.status === 'expired') return expiredPage(session);
  return openPage(view);
}

function openPage({ session, notes, problem }: CheckoutView): string {
  const currency = session.currency ?? 'usd';
  const total = formatAmount(session.amount_total ?? 0, currency);
  const lines = lineItems(session, notes).map(
    ({ description, quantity, amount_total: amount }) =>
      `<li><span>${escaped(description)}${quantity > 1 ? ` <small>× ${quantity}</small>` : ''}</span><b>${formatAmount(amount, currency)}</b></li>`,
  );
  const [first, ...others] = notes.lines;
  // One line would only say again what the heading says.
  const isOne = others.length === 0 && first?.quantity === 1;
  const free = session.payment_status === 'no_payment_required';
  const title = `${problem ? 'Payment declined – ' : ''}Pay ${total}`;
  return page(
    title,
    `${problem ? `<p class="problem" role="alert">${escaped(problem)} Nothing was paid: choose another way to pay and try again.</p>\n` : ''}<h1>${escaped(first?.name ?? 'Checkout')}${others.length > 0 ? ` and ${others.length} more` : ''}</h1>
<p class="total">${total}</p>
${
  isOne
    ? ''
    : `<ul class="lines" aria-label="What you pay for">${lines.join('')}</ul>
`
}<form method="post" action="/_pay/${encodeURIComponent(session.id)}">
${emailField(session)}${free ? '' : choices()}<button type="submit">${free ? 'Confirm' : `Pay ${total}`}</button>
</form>
${session.cancel_url === null ? '' : `<a class="back" href="${escaped(session.cancel_url)}">Cancel and go back</a>`}`,
  );
}

function emailField({ customer_email: email, customer_details: details }: Session): string {
  if (email !== null) return `<p><small>Receipt to</small><br>${escaped(email)}</p>\n`;
  const typed = details?.email ?? '';
  return `<label class="field" for="email">E-mail</label>
<input class="email" id="email" name="email" type="email" autocomplete="email" required maxlength="254" value="${escaped(typed)}">
`;
}

const choices = () => `<fieldset><legend>Pay with a test card</legend>
${testCards
  .map(
    ({ choice, label, effect }, index) =>
      `<label class="choice"><input type="radio" name="method" value="${choice}"${index === 0 ? ' checked' : ''}><span>${label} <small>${effect}</small></span></label>`,
  )
  .join('\n')}
</fieldset>
`;

function completePage(session: Session): string {
  const paid = session.payment_status !== 'unpaid';
  const head = paid ? 'Paid' : 'Payment on its way';
  const amount = formatAmount(session.amount_total ?? 0, session.currency ?? 'usd');
  const what = paid
    ? `${amount} were paid. There is nothing more to do here.`
    : `${amount} have been ordered from the bank and arrive later. There is nothing more to do here.`;
  return page(
    head,
    `<h1 class="done">${head}</h1>
<p>${what}</p>
<a class="go" href="${escaped(successAddress(session))}">Back to the shop</a>`,
  );
}

function expiredPage(session: Session): string {
  return page(
    'Checkout expired',
    `<h1 class="over">This checkout has expired</h1>
<p>Nothing was paid, and nothing can be paid here any more. Start again in the shop.</p>
${session.cancel_url === null ? '' : `<a class="go" href="${escaped(session.cancel_url)}">Back to the shop</a>`}`,
  );
}
