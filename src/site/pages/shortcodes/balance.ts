/** `[rewards_balance]`: what the user has, where it is, and what it came from. */
import type { Balance } from '../../plugin/plugin.ts';
import { count, day, rwt, spelledOut } from '../format.ts';
import { type Html, html } from '../html.ts';
import { empty, frame, type ShortcodeView } from './frame.ts';

/** `isLong`: with the list of what it came from. */
export function balanceHtml(view: ShortcodeView, balance: Balance, { isLong }: { isLong: boolean }): Html {
  const { walletAddress, history } = balance;
  return frame(
    view,
    'Your balance',
    html`<p class="rw-figure">${count(balance.balance)} <small>RWT</small></p>
${walletAddress ? html`<p><small>In your wallet <span class="mono">${walletAddress}</span></small></p>` : html`<p><small>A wallet is made for you with your first reward.</small></p>`}
${isLong && historyHtml(history)}`,
  );
}

function historyHtml(history: Balance['history']): Html {
  if (history.length === 0)
    return empty('Nothing earned yet', html`Check in, write a comment or order something: it appears here.`);
  return html`<div class="scroll" tabindex="0" role="group" aria-label="What you earned"><table>
<caption class="hidden">What you earned, newest first</caption>
<thead><tr><th scope="col">For</th><th scope="col">When</th><th scope="col" class="number">Amount</th></tr></thead>
<tbody>${history.map(
    ({ eventType, amount, atMs }) =>
      html`<tr><td>${spelledOut(eventType)}</td><td>${day(atMs)}</td><td class="number">${amount > 0 ? '+' : ''}${rwt(amount)}</td></tr>`,
  )}</tbody></table></div>`;
}
