/** What can be counted of a replay, in the order in which it is told. */

export const effectNames = [
  ...(['rewards', 'rwtRewarded', 'mints', 'rwtMinted', 'relays'] as const),
  ...(['redemptions', 'checkouts', 'wallets', 'webhooks'] as const),
];
