/** `rewards webhooks verify`: whether a signature is of these bytes, and which part of it fails. */
import { formatDuration } from '../../../lib/duration.ts';
import type { Handler } from '../../machine/context.ts';
import { problemOf } from '../../machine/errors.ts';
import { readBytes, utf8Of } from '../../machine/read-input.ts';
import { explainSignature, parts, type Verdict } from '../../talk/webhooks/explain-signature.ts';
import { signaturesIn } from '../../talk/webhooks/schemes.ts';
import type { Style } from '../../terminal/style.ts';
import { signingFrom } from './secret.ts';

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
