/** `rewards webhooks sign|verify`: every header that a signed body has, and whether a signature is right. */
import { createHash } from 'node:crypto';
import { formatDuration } from '../../../lib/duration.ts';
import { explainSignature, parts, type Verdict } from '../../../webhooks/explain-signature.ts';
import { standardKey } from '../../../webhooks/schemes.ts';
import { signedHeaders } from '../../../webhooks/signatures.ts';
import type { CommandContext, Handler } from '../../machine/context.ts';
import { problemOf, usageError } from '../../machine/errors.ts';
import { readBytes, utf8Of } from '../../machine/read-input.ts';
import { isObject } from '../../service/assignments.ts';
import type { Style } from '../../terminal/style.ts';
import { signaturesIn } from './given-signatures.ts';
import { destinationOf, processorIfRunning } from './processor.ts';

interface SignOptions {
  file: string;
  secret?: string;
  timestamp?: number;
  id?: string;
  scheme?: 'processor' | 'service';
}

export const signBody: Handler<SignOptions> = async (context, { file, secret: given, ...options }) => {
  const { secret, nowMs } = await signingFrom(context, given);
  const body = await readBytes(context.runtime, file);
  const text = utf8Of(body, file);
  const timestamp = options.timestamp ?? Math.floor(nowMs / 1_000);
  const ours = options.scheme !== 'processor' && isServiceSecret(context, secret);
  const headers: Record<string, string> = {
    ...(options.scheme !== 'service' && (await processorHeaders({ text, secret, timestamp }))),
    ...(ours && signedHeaders({ secret, id: options.id ?? idOf(text), timestampSeconds: timestamp, body })),
  };
  return {
    ok: true,
    data: { timestamp, bytes: body.length, headers },
    env: headers,
    text: () =>
      Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n'),
  };
};

async function processorHeaders({
  text,
  secret,
  timestamp,
}: {
  text: string;
  secret: string;
  timestamp: number;
}): Promise<Record<string, string>> {
  const { default: Stripe } = await import('stripe');
  return {
    'Stripe-Signature': Stripe.webhooks.generateTestHeaderString({ payload: text, secret, timestamp }),
  };
}

/** Whether this service could have made the secret: `whsec_` and base64. */
function isServiceSecret({ note }: CommandContext, secret: string): boolean {
  const isOurs = secret.startsWith('whsec_') && standardKey(secret) !== undefined;
  if (!isOurs) note('the secret is not whsec_ and base64, so this service has no signatures for it');
  return isOurs;
}

/** The body's own id, or one made from its bytes, so that the same body gets the same. */
function idOf(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    if (isObject(body) && typeof body.id === 'string' && /^[\w-]+$/.test(body.id)) return body.id;
  } catch {
    // Any text can be signed.
  }
  return `msg_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
}

interface VerifyOptions {
  file: string;
  secret?: string;
  header?: string[];
  signature?: string;
  /** Milliseconds. */
  tolerance: number;
  /** Milliseconds since 1970. */
  at?: number;
  explain: boolean;
}

export const verifyBody: Handler<VerifyOptions> = async (context, options) => {
  const { secret, nowMs } = await signingFrom(context, options.secret);
  const given = signaturesIn({ headers: options.header, signature: options.signature });
  const body = await readBytes(context.runtime, options.file);
  const received = {
    secret,
    body,
    text: utf8Of(body, options.file),
    atSeconds: Math.floor((options.at ?? nowMs) / 1_000),
    toleranceSeconds: Math.floor(options.tolerance / 1_000),
  };
  const signatures = given.map((one) => explainSignature(one, received));
  const failing = signatures.find(({ failed }) => failed !== null);
  const data = { verifies: failing === undefined, bytes: body.length, signatures };
  const text = (style: Style) =>
    signatures.map((one) => verdictText(one, { style, explain: options.explain })).join('\n');
  if (!failing?.failed) return { ok: true, data, text };
  const { part, message, fix } = failing.failed;
  const error = problemOf('E_SIGNATURE', {
    message: `${failing.header} does not verify: ${message}.`,
    fix,
    details: { part, scheme: failing.scheme },
  });
  return { ok: false, error, data, ...(options.explain && { text }) };
};

/** One line, or one for each part. */
function verdictText(verdict: Verdict, { style, explain }: { style: Style; explain: boolean }): string {
  const { header, failed, ageSeconds } = verdict;
  const head = failed
    ? `${style.red('✗')} ${header} does not verify`
    : `${style.green('✓')} ${header} verifies`;
  if (!explain) return `${head}  ${style.dim(ageText(ageSeconds))}`;
  const lines = parts.map((part) => {
    const isWrong = failed?.part.split(' or ').includes(part);
    if (failed && isWrong) return `  ${style.red('✗')} ${part.padEnd(9)}  ${failed.message}`;
    const isRight = !failed || failed.right.includes(part);
    const fact = part === 'timestamp' ? ageText(ageSeconds) : isRight ? 'right' : 'not known';
    return `  ${isRight ? style.green('✓') : style.dim('?')} ${part.padEnd(9)}  ${style.dim(fact)}`;
  });
  return [head, ...lines, ...(failed ? [`  ${style.dim('fix')}  ${failed.fix}`] : [])].join('\n');
}

function ageText(ageSeconds: number | null): string {
  if (ageSeconds === null) return 'it covers no timestamp';
  const length = formatDuration(Math.abs(ageSeconds) * 1_000);
  return ageSeconds < 0 ? `signed ${length} ahead` : `signed ${length} ago`;
}

/** The secret, or E_USAGE with the two ways to give it. */
export function secretFrom(secret: string | undefined): string {
  if (secret) return secret;
  throw usageError(
    'The signing secret is missing.',
    'Give it with --secret whsec_…, or set REWARDS_WEBHOOK_SECRET, which keeps it out of the list of processes.',
  );
}

/** The secret and the time by this machine; where none is given, the emulated processor's, by the emulator's clock. */
async function signingFrom(
  context: CommandContext,
  given: string | undefined,
): Promise<{ secret: string; nowMs: number }> {
  const processor = given === undefined ? await processorIfRunning(context) : undefined;
  if (!processor) return { secret: secretFrom(given), nowMs: context.runtime.clock.now() };
  context.note('the secret is the one of the emulated payment processor, and the time the emulator’s');
  return { secret: (await destinationOf(processor, {})).secret, nowMs: await processor.nowMs() };
}
