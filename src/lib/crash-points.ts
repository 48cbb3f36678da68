/** Named moments at which a test may end the process; in production each is an empty call. */

export const crashPoints = [
  'reserve.before-commit',
  'reserve.committed',
  'lane.signed',
  'lane.before-store',
  'lane.stored',
  'lane.sent',
  'lane.answer-read',
  'lane.marked-sent',
  'lane.bump-signed',
  'lane.bump-stored',
  'lane.bump-sent',
  'follow.receipts-read',
  'follow.before-commit',
  'follow.committed',
  'follow.reopened',
  'answer.before-reply',
  'recover.started',
  'recover.resent',
] as const;

/** The same on the way of a webhook, from its lease to the commit that knows its answer. */
export const webhookCrashPoints = [
  'webhook.leased',
  'webhook.posting',
  'webhook.answered',
  'webhook.before-record',
  'webhook.recorded',
] as const;

/** The same on the way of a payment: a checkout between the processor's answer and its note, a mint around its plan's commit. */
export const paymentCrashPoints = ['checkout.made', 'mint.before-commit', 'mint.committed'] as const;

/** The same on the way of a redemption, around the commit that admits it. */
export const redemptionCrashPoints = ['redeem.before-commit', 'redeem.committed'] as const;

/** The same around a commit of consumers: effect and position are in one. */
export const consumerCrashPoints = ['consumers.before-commit', 'consumers.committed'] as const;

const allCrashPoints = [
  ...crashPoints,
  ...webhookCrashPoints,
  ...paymentCrashPoints,
  ...redemptionCrashPoints,
  ...consumerCrashPoints,
];

export type CrashPoint = (typeof allCrashPoints)[number];

/** Called with the point that was reached. */
export type Crash = (point: CrashPoint) => void;

export const neverCrash: Crash = () => {};

const isCrashPoint = (name: string): name is CrashPoint => allCrashPoints.some((point) => point === name);

/** Calls `end` when `<point>:<n>` is reached for the nth time. Throws when the text names no point. */
export function crashAt(text: string, end: () => void): Crash {
  const [, name = '', nth = '1'] = /^([a-z.-]+)(?::([1-9][0-9]*))?$/.exec(text) ?? [];
  if (!isCrashPoint(name)) throw new Error(`unknown crash point ${text}`);
  let left = Number(nth);
  return (point) => {
    if (point !== name) return;
    left -= 1;
    if (left === 0) end();
  };
}
