/** The receiver's lines: one for each delivery, one for each pause before a retry. */
import { formatDuration } from '../../lib/duration.ts';
import type { OutputFormat } from '../machine/output.ts';
import type { Received } from '../talk/receive-event.ts';
import { type Style, shortHash } from '../terminal/style.ts';
import type { ForwardDeps, Forwarded } from './forward-session.ts';

interface As {
  format: OutputFormat;
  style: Style;
  now: () => number;
}

/** A line for people, or the JSON of a stream's entry. */
export function receivedEntry(received: Received, as: As): string {
  const at = new Date(as.now()).toISOString();
  if (as.format !== 'text') return JSON.stringify({ type: 'delivery', at, ...received });
  const { dim, green, yellow, red } = as.style;
  const paint = received.status < 400 ? green : received.status < 500 ? yellow : red;
  const head = [dim(at.slice(11, 19)), paint(String(received.status))];
  if (received.what === 'refused') return [...head, yellow('refused'), received.error].join('  ');
  const { type, id, objectId } = received.event;
  return [...head, type, dim(id), ...(objectId ? [dim(objectId)] : []), meaning(received, as.style)].join(
    '  ',
  );
}

export function retryEntry(told: Parameters<ForwardDeps['onRetry']>[0], as: As): string {
  const at = new Date(as.now()).toISOString();
  if (as.format !== 'text') return JSON.stringify({ type: 'retry', at, ...told });
  const { dim, yellow } = as.style;
  const why = told.status === null ? told.message : String(told.status);
  const text = `payment-mint: ${why}; again in ${formatDuration(told.inMs)}`;
  return [dim(at.slice(11, 19)), yellow('retry'), dim(told.sessionId), text].join('  ');
}

function meaning(received: Exclude<Received, { what: 'refused' }>, style: Style): string {
  if (received.what === 'logged') return style.dim('only logged');
  if (received.what === 'ignored') return style.dim('of no interest here');
  if (received.what === 'forwarding')
    return style.yellow('still asking payment-mint; the processor sends it again');
  const again = received.repeated ? style.dim(' (seen before)') : '';
  return `${fate(received.forwarded, style)}${again}`;
}

function fate(
  { outcome, status, tries, message, transactionHash, alreadyProcessed }: Forwarded,
  style: Style,
): string {
  const hash = transactionHash === null ? '' : ` tx ${shortHash(transactionHash)}`;
  if (outcome === 'done') return `${style.green(alreadyProcessed ? 'minted before' : 'minted')}${hash}`;
  if (outcome === 'refused') return `${style.yellow('payment-mint refused')}: ${message}`;
  const why = status === null ? message : `${status} ${message}`.trim();
  return `${style.red('payment-mint failed')} ${tries} times: ${why}`;
}
