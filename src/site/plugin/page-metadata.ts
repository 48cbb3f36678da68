/** What a page may say about an event: nothing that decides whether it pays, and how much. */

/** Of the event handler: amounts, channels, and what passes over its limits when the brand's key comes with it. */
const EFFECTUAL = new Set(['skip_cooldown', 'source', 'order_total', 'channel_id', 'bot_username']);
/** Accounts on platforms, which can vouch for an event without a domain. */
const isHandle = (name: string): boolean => name.endsWith('Handle');

/** The page's metadata without the fields that only the site's own hooks may send. */
export const pageMetadata = (metadata: Record<string, unknown> = {}): Record<string, unknown> =>
  Object.fromEntries(Object.entries(metadata).filter(([name]) => !EFFECTUAL.has(name) && !isHandle(name)));
