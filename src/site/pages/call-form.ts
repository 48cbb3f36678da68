/**
 * Buttons that ask the site for something: check in, redeem, claim. With script the form becomes a call of the REST API
 * and the page stays; without, it is a plain POST that leads back with a notice. Both say the same.
 */
import { type Html, html } from './html.ts';
import type { Visit } from './visit.ts';

interface CallTexts {
  /** The first whose `{fields}` the answer has. */
  done: string[];
  /** When the answer says `alreadyClaimed`. */
  again?: string;
}

export const callTexts = {
  checkin: {
    done: ['Checked in: day {streak.currentStreak} in a row, +{reward} RWT.'],
    again: 'You have checked in today already. Come back tomorrow.',
  },
  redeem: {
    done: ['{perk.name} is yours. Your code: {confirmationCode}', '{perk.name} is yours.', 'Redeemed.'],
  },
  'claim-milestone': { done: ['+{bonusRwt} RWT for {milestone} days in a row.'] },
} satisfies Record<string, CallTexts>;

export type CallName = keyof typeof callTexts;

export const callNames = Object.keys(callTexts) as CallName[];

/** What the page says after the call. `answer`: as the REST API gives it. */
export function doneText(name: CallName, answer: Record<string, unknown>): string {
  const texts: CallTexts = callTexts[name];
  if (answer.alreadyClaimed === true && texts.again) return texts.again;
  return texts.done.map((text) => filled(text, answer)).find((text) => text !== undefined) ?? 'Done.';
}

function filled(text: string, answer: unknown): string | undefined {
  let isComplete = true;
  const result = text.replace(/\{([\w.]+)\}/g, (_, path: string) => {
    const value = path
      .split('.')
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | null | undefined)?.[key], answer);
    if (typeof value !== 'string' && typeof value !== 'number') isComplete = false;
    return String(value);
  });
  return isComplete ? result : undefined;
}

/** `fields`: the body of the call. */
export function callForm(
  visit: Visit,
  call: { name: CallName; fields?: Record<string, string>; button: Html },
): Html {
  const { name, fields = {}, button } = call;
  return html`<form method="post" action="${visit.at(`/actions/${name}`)}" data-call="${visit.at(`/wp-json/rewards/v1/${name}`)}" data-nonce="${visit.nonce('rest')}" data-texts="${JSON.stringify(callTexts[name])}">
<input type="hidden" name="_nonce" value="${visit.nonce('form')}"><input type="hidden" name="back" value="${visit.here}">
${Object.entries(fields).map(([field, value]) => html`<input type="hidden" name="${field}" value="${value}">`)}
${button}
</form>`;
}
