/** What the receiver of a webhook finds out about its signatures, form by form. */
import { timingSafeEqual } from 'node:crypto';
import { bareSignature, standardSignature, timestampedSignature } from './sign.ts';

export type SignatureVerdict = 'valid' | 'absent' | 'wrong' | 'too old' | 'too new';

export interface WebhookVerdict {
  /** Whether each of the three forms is. */
  valid: boolean;
  bare: SignatureVerdict;
  timestamped: SignatureVerdict;
  standard: SignatureVerdict;
}

/** How far a timestamp may be from now, before and after: as Standard Webhooks has it. */
const TOLERANCE_SECONDS = 300;

const isSame = (one: string, other: string): boolean => {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
};

/** The verdict on signatures of one form, made at `timestamp`. */
function judge(
  given: string[],
  expected: (atSeconds: number) => string,
  timestamp: string,
  nowSeconds: number,
) {
  if (given.length === 0) return 'absent';
  if (!/^\d{1,12}$/.test(timestamp)) return 'wrong';
  const at = Number(timestamp);
  const wanted = expected(at);
  if (!given.some((one) => isSame(one, wanted))) return 'wrong';
  if (at < nowSeconds - TOLERANCE_SECONDS) return 'too old';
  return at > nowSeconds + TOLERANCE_SECONDS ? 'too new' : 'valid';
}

/** `headers` have names in small letters; `body` is what came, byte for byte. Compared in constant time. */
export function verifyWebhook(message: {
  secret: string;
  headers: Record<string, string | undefined>;
  body: Uint8Array;
  nowSeconds: number;
}): WebhookVerdict {
  const { secret, headers, body, nowSeconds } = message;
  const header = (name: string) => headers[name] ?? '';
  const listed = (text: string, separator: string) => text.split(separator).filter((one) => one !== '');

  const bares = [header('x-service-signature'), header('x-service-signature-next')].filter(
    (one) => one !== '',
  );
  const isBareRight = bares.some((one) => isSame(one, bareSignature(secret, body)));
  const bare = bares.length === 0 ? 'absent' : isBareRight ? 'valid' : 'wrong';

  const parts = listed(header('x-service-signature-timestamped'), ',');
  const [timestamp = ''] = parts.flatMap((part) => (part.startsWith('t=') ? [part.slice(2)] : []));
  const timestamped = judge(
    parts.filter((part) => !part.startsWith('t=')),
    (at) => `v1=${timestampedSignature(secret, at, body)}`,
    timestamp,
    nowSeconds,
  );

  const standard = judge(
    listed(header('webhook-signature'), ' '),
    (at) => standardSignature(secret, { id: header('webhook-id'), timestampSeconds: at, body }),
    header('webhook-timestamp'),
    nowSeconds,
  );
  const valid = [bare, timestamped, standard].every((verdict) => verdict === 'valid');
  return { valid, bare, timestamped, standard };
}
