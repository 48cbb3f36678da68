/** Finds out which part of a signature fails: its scheme, the secret, the body, or the timestamp. */
import { formatDuration } from '../lib/duration.ts';
import { type Given, hmac, keyOf, prefixOf, type Scheme, standardKey } from './schemes.ts';

export const parts = ['scheme', 'secret', 'body', 'timestamp'] as const;
type Part = (typeof parts)[number];

export interface Verdict {
  scheme: Scheme;
  header: string;
  verifies: boolean;
  /** The part that fails, with what is wrong and what to do; null when it verifies. */
  failed: {
    /** Both `secret or body` after a wrong secret and after changed values: their signatures look the same. */
    part: Part | 'secret or body';
    /** What is known to be right in spite of it. */
    right: Part[];
    message: string;
    fix: string;
  } | null;
  /** Seconds by which the timestamp is in the past, negative when it is ahead; null without one. */
  ageSeconds: number | null;
}

interface Received {
  secret: string;
  body: Uint8Array;
  /** The same body; it must be UTF-8. */
  text: string;
  atSeconds: number;
  toleranceSeconds: number;
}

type Failure = NonNullable<Verdict['failed']>;

/** How far around the given timestamp, and after the event's own, the signed one is looked for. */
const SEARCHED_SECONDS = 3_600;
/** Less far for a long body: about a second of hashing in all. */
const SEARCHED_BYTES = 500_000_000;

export function explainSignature(given: Given, received: Received): Verdict {
  const seconds = /^\d{1,12}$/.test(given.timestamp ?? '') ? Number(given.timestamp) : null;
  const failed =
    unreadable(given, received) ??
    (digestMatches(given, received)
      ? outsideTolerance(seconds, received)
      : (wrongSecret(given, received) ??
        alteredBody(given, received) ??
        otherScheme(given, received) ??
        alteredTimestamp(given, received) ??
        unknown(given)));
  return {
    scheme: given.scheme,
    header: given.header,
    verifies: failed === undefined,
    failed: failed ?? null,
    ageSeconds: seconds === null ? null : received.atSeconds - seconds,
  };
}

/** Whether the digest is of this body under this secret; the age of its timestamp is another question. */
function digestMatches(given: Given, { secret, body }: Received): boolean {
  const key = keyOf(given.scheme, secret);
  return key !== undefined && isAmong(given, hmac(key, prefixOf(given), body));
}

const isAmong = ({ digests }: Given, digest: Buffer) => digests.some((one) => one.equals(digest));

/** What is wrong with the header itself. */
function unreadable(given: Given, { secret, body }: Received): Failure | undefined {
  const { scheme, value, digests, timestamp, id } = given;
  const isTimed = scheme !== 'service';
  const isMissing = isTimed && !/^\d{1,12}$/.test(timestamp ?? '');
  if (digests.length > 0 && !isMissing && (scheme !== 'standard-webhooks' || id)) {
    if (scheme !== 'standard-webhooks' || standardKey(secret)) return undefined;
    const message = 'the secret is not whsec_ followed by base64, which Standard Webhooks makes its key from';
    return {
      part: 'secret',
      right: ['scheme'],
      message,
      fix: 'Use the whole secret, with whsec_ at its beginning.',
    };
  }
  const bare = /^(?:sha256=)?([0-9a-f]{64})$/i.exec(value)?.[1];
  if (bare !== undefined && scheme !== 'service') {
    const isOurs = hmac(secret, body).toString('hex') === bare.toLowerCase();
    const message = `it holds a bare digest${isOurs ? ' of the body, as X-Service-Signature has it' : ''}; here it is t=<seconds>,v1=<digest>`;
    return { part: 'scheme', right: [], message, fix: 'Verify the header that belongs to the scheme.' };
  }
  const wanted = {
    processor: 't=<seconds>,v1=<64 digits in small letters>',
    'service-timestamped': 't=<seconds>,v1=<64 digits in small letters>',
    service: '64 hexadecimal digits in small letters',
    'standard-webhooks': 'v1,<base64>, with webhook-id and webhook-timestamp beside it',
  }[scheme];
  const lack = digests.length === 0 ? 'no digest of the right form' : isMissing ? 'no timestamp' : 'no id';
  const message = `it has ${lack}, and must be ${wanted}`;
  return { part: 'scheme', right: [], message, fix: 'Take the header as it came, whole and unchanged.' };
}

function outsideTolerance(
  seconds: number | null,
  { atSeconds, toleranceSeconds }: Received,
): Failure | undefined {
  if (seconds === null || Math.abs(atSeconds - seconds) <= toleranceSeconds) return undefined;
  const isPast = atSeconds > seconds;
  const by = formatDuration(Math.abs(atSeconds - seconds) * 1_000);
  const allowed = formatDuration(toleranceSeconds * 1_000);
  return {
    part: 'timestamp',
    right: ['scheme', 'secret', 'body'],
    message: `it was signed ${by} ${isPast ? 'ago' : 'in the future'}, and ${allowed} is allowed; secret and body are right`,
    fix: isPast
      ? 'Verify at once when a webhook comes and queue it afterwards; for one that was kept, give --at with the time at which it came.'
      : 'Set the clock of the receiver or of the sender right; with an emulator whose clock was moved give --at.',
  };
}

/** A secret as it is found when it was copied or read carelessly. */
function wrongSecret(given: Given, { secret, body }: Received): Failure | undefined {
  const variants: [secret: string, what: string][] = [
    [secret.trim(), 'has white space around it'],
    [secret.replace(/^(["'])(.*)\1$/, '$2'), 'stands in quotation marks'],
    [`${secret}\n`, 'lacks the newline that the signer’s has'],
    [secret.replace(/^whsec_/, ''), 'was used without its whsec_ by the signer'],
    [`whsec_${secret}`, 'lacks whsec_ at its beginning'],
  ];
  for (const [variant, what] of variants) {
    if (variant === secret || variant === '') continue;
    const key = keyOf(given.scheme, variant);
    if (key === undefined || !isAmong(given, hmac(key, prefixOf(given), body))) continue;
    const fix = 'Give both sides the same text, from whsec_ to its last character.';
    const message = `the secret ${what}; the body is right`;
    return { part: 'secret', right: ['scheme', 'body'], message, fix };
  }
  return undefined;
}

function alteredBody(given: Given, { secret, text }: Received): Failure | undefined {
  const key = keyOf(given.scheme, secret);
  if (key === undefined) return undefined;
  for (const [variant, what] of bodyVariants(text)) {
    if (!isAmong(given, hmac(key, prefixOf(given), variant))) continue;
    return {
      part: 'body',
      right: ['scheme', 'secret'],
      message: `the body was altered on its way: ${what}; the secret is right`,
      fix: 'Verify the bytes as they came, before anything parses them: `express.raw()`, `await request.text()`.',
    };
  }
  return undefined;
}

/** The right secret and body, put together as another scheme does it. */
function otherScheme(given: Given, { secret, body }: Received): Failure | undefined {
  const encoded = standardKey(secret);
  const prefix = prefixOf(given);
  const others: [digest: Buffer, what: string][] = [
    [hmac(secret, body), 'it covers the body alone, as X-Service-Signature does'],
    ...(encoded
      ? ([
          [hmac(encoded, body), 'it covers the body alone, under the base64 after whsec_'],
          [hmac(encoded, prefix, body), 'its key is the base64 after whsec_, as in Standard Webhooks'],
        ] as [Buffer, string][])
      : []),
    [hmac(secret, prefix, body), 'its key is the text of the secret, as in Stripe-Signature'],
  ];
  const found = others.find(([digest]) => isAmong(given, digest));
  if (!found) return undefined;
  return {
    part: 'scheme',
    right: ['secret', 'body'],
    message: `secret and body are right, but the signature is of another scheme: ${found[1]}`,
    fix: 'Verify it with the function for its scheme, and its own header.',
  };
}

/** The second at which it was really signed, when that is near. */
function alteredTimestamp(given: Given, { secret, body, text }: Received): Failure | undefined {
  const key = keyOf(given.scheme, secret);
  const shown = Number(given.timestamp);
  if (key === undefined || given.timestamp === undefined) return undefined;
  const around = Math.min(SEARCHED_SECONDS, Math.floor(SEARCHED_BYTES / 3 / (body.length + 100)));
  const created = Number(/"created"\s*:\s*(\d{9,11})\b/.exec(text)?.[1] ?? Number.NaN);
  const ranges = [
    [shown - around, shown + around],
    ...(Number.isNaN(created) ? [] : [[created, created + around]]),
  ] as [number, number][];
  for (const [first, last] of ranges) {
    for (let second = Math.max(0, first); second <= last; second++) {
      const prefix = prefixOf({ ...given, timestamp: String(second) });
      if (!isAmong(given, hmac(key, prefix, body))) continue;
      return {
        part: 'timestamp',
        right: ['scheme', 'secret', 'body'],
        message: `the timestamp was altered: it says ${shown}, and the signature is of ${second}; secret and body are right`,
        fix: 'Refuse it: somebody made it look younger or older than it is.',
      };
    }
  }
  return undefined;
}

const unknown = ({ scheme }: Given): Failure => ({
  part: 'secret or body',
  right: ['scheme'],
  message:
    'the signature is of another secret, or values in the body were changed; writing the body in other ways does not make it fit',
  fix:
    scheme === 'processor'
      ? 'Compare the secret with the one of this endpoint: each endpoint has its own, and `listen` has another. Then take the body again, byte for byte.'
      : 'Compare the secret with the one that the brand’s settings show, also after a rotation. Then take the body again, byte for byte.',
});

/** Other writings of a body, each with what must have happened to it if the signature fits that one. */
export function* bodyVariants(text: string): Generator<[variant: string, what: string]> {
  const bare = text.replace(/^\uFEFF/, '');
  if (bare !== text) yield [bare, 'a byte order mark came before it'];
  else yield [`\uFEFF${text}`, 'its byte order mark was taken off'];
  yield* lineEnds(text);
  const json = parsed(bare);
  if (json === undefined) return;
  for (const [written, what] of serialised(json)) {
    if (written === text) continue;
    yield [written, what];
    yield [`${written}\n`, `${what}, and its last newline was dropped`];
  }
}

function* lineEnds(text: string): Generator<[string, string]> {
  if (/\r?\n$/.test(text)) yield [text.replace(/\r?\n$/, ''), 'a newline was added at its end'];
  else yield* [[`${text}\n`, 'the newline at its end was dropped'] as [string, string]];
  if (text.trim() !== text) yield [text.trim(), 'white space was added around it'];
  if (text.includes('\r\n')) yield [text.replaceAll('\r\n', '\n'), 'its line ends became CRLF'];
  else if (text.includes('\n')) yield [text.replaceAll('\n', '\r\n'), 'its line ends were CRLF'];
}

/** The JSON as the usual libraries write it. */
function* serialised(json: unknown): Generator<[string, string]> {
  const forms: [string, string][] = [
    [JSON.stringify(json), 'the sender’s had no white space between its fields'],
    [JSON.stringify(json, null, 2), 'the sender’s was indented by two spaces'],
    [JSON.stringify(json, null, 4), 'the sender’s was indented by four spaces'],
    [spaced(json), 'the sender’s had a space after each comma and colon'],
  ];
  for (const [written, what] of forms) {
    yield [written, `its JSON was parsed and written again; ${what}`];
    const ascii = escaped(written);
    if (ascii !== written)
      yield [ascii, `its JSON was parsed and written again; ${what}, other letters written as \\u…`];
  }
}

/** As Python's json.dumps writes it. */
function spaced(json: unknown): string {
  if (Array.isArray(json)) return `[${json.map(spaced).join(', ')}]`;
  if (typeof json !== 'object' || json === null) return JSON.stringify(json);
  const fields = Object.entries(json).map(([name, value]) => `${JSON.stringify(name)}: ${spaced(value)}`);
  return `{${fields.join(', ')}}`;
}

const escaped = (text: string) =>
  text.replace(/[\u0080-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
