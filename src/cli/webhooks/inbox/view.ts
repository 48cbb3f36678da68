/** One delivery on one line: time, event, whom it is about, and the verdict on its signatures. */
import type { InboxDelivery } from '../../../contract/control/inbox.ts';
import type { OutputFormat } from '../../machine/output.ts';
import { isObject } from '../../service/assignments.ts';
import { type Style, shortHash } from '../../terminal/style.ts';

/** A line for people, or the JSON of a stream's entry. */
export const deliveryEntry = (delivery: InboxDelivery, as: { format: OutputFormat; style: Style }) =>
  as.format === 'json' || as.format === 'jsonl'
    ? JSON.stringify({ type: 'delivery', ...delivery })
    : deliveryLine(delivery, as.style);

/** `09:41:07  reward.distributed  evt_0198…  alice@demo.example  +100 RWT  tx 0xa1b2…  signatures valid`. */
export function deliveryLine({ receivedAt, body, headers, signature }: InboxDelivery, style: Style): string {
  const fields = isObject(body) ? body : {};
  const data = isObject(fields.data) ? fields.data : {};
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? [value] : []);
  return [
    style.dim(receivedAt.slice(11, 19)),
    (text(fields.type)[0] ?? 'no event').padEnd('reward.distributed'.length),
    ...text(headers['webhook-id']).map((id) => style.dim(id)),
    ...text(data.userEmail),
    ...(typeof data.amount === 'number' ? [style.bold(`+${data.amount} RWT`)] : []),
    ...text(data.transactionHash).map((hash) => `tx ${shortHash(hash)}`),
    verdictText(signature, style),
  ].join('  ');
}

function verdictText(signature: InboxDelivery['signature'], style: Style): string {
  if (!signature) return style.yellow('no endpoint has this address');
  if (signature.valid) return style.green('signatures valid');
  const { bare, timestamped, standard } = signature;
  const forms = { 'X-Service-Signature': bare, 'X-Service-Signature-Timestamped': timestamped };
  const wrong = Object.entries({ ...forms, 'webhook-signature': standard })
    .filter(([, verdict]) => verdict !== 'valid')
    .map(([name, verdict]) => `${name} ${verdict}`);
  return style.red(wrong.join(', '));
}
