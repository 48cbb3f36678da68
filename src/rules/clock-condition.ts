/** What the emulator's clock can be moved to instead of a time: `cooldown:USER/EVENT` and the like, read from text. */

export type ClockCondition =
  /** The earliest moment at which anything falls due. */
  | { kind: 'next' }
  /** The user's next claim of the event is no longer held up. */
  | { kind: 'cooldown'; user: string; eventType: string }
  /** The window of a limit is over: of a user, an account, a client's address or a brand. */
  | { kind: 'window-reset'; subject: string }
  /** The next attempt to deliver a webhook, of the service or of the payment processor. */
  | { kind: 'webhook-retry'; id: string }
  /** A token is no longer taken; without one, the token that was issued last. */
  | { kind: 'token-expiry'; token: string | undefined }
  /** A checkout session can no longer be paid. */
  | { kind: 'checkout-expiry'; id: string };

/** How each is written, for helps and refusals. */
export const CLOCK_CONDITIONS = [
  'next',
  'cooldown:USER/EVENT',
  'window-reset:USER|ADDRESS',
  'webhook-retry:ID',
  'token-expiry[:TOKEN]',
  'checkout-expiry:ID|latest',
] as const;

/** `parseClockCondition` as a pattern. */
export const CLOCK_CONDITION =
  /^(?:next|cooldown:\S+\/[^\s/]+|(?:window-reset|webhook-retry|checkout-expiry):\S+|token-expiry(?::\S+)?)$/;

/** Whether the text begins like a condition, so that what is wrong with it can be told as such. */
export const namesClockCondition = (text: string) =>
  /^(?:next|cooldown|window-reset|webhook-retry|token-expiry|checkout-expiry)(?::|$)/.test(text);

/** Undefined when the text is not one of `CLOCK_CONDITIONS`. */
export function parseClockCondition(text: string): ClockCondition | undefined {
  if (!CLOCK_CONDITION.test(text)) return undefined;
  const colon = text.indexOf(':');
  const [kind, rest] = colon === -1 ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1)];
  if (kind === 'next') return { kind };
  if (kind === 'token-expiry') return { kind, token: rest };
  if (rest === undefined) return undefined;
  if (kind === 'window-reset') return { kind, subject: rest };
  if (kind === 'webhook-retry' || kind === 'checkout-expiry') return { kind, id: rest };
  // An e-mail may have a slash, the name of an event has none.
  const slash = rest.lastIndexOf('/');
  return { kind: 'cooldown', user: rest.slice(0, slash), eventType: rest.slice(slash + 1) };
}

/** Where the clock ends: far enough for every rule, and representable as a date. */
export const LATEST_MS = Date.UTC(9999, 0, 1);
