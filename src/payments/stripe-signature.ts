/** The header Stripe-Signature: when something was signed, and its signatures. */
import { EventProblem } from './processor.ts';

/** Stripe sends two while a secret is rolled; a header with more is made to cost time. */
const SIGNATURES_MAX = 10;

/** `t=<seconds>,v1=<64 hex digits>[,v1=…]`; parts with other names are left alone. Throws `signature_malformed`. */
export function readSignature(header: string): { signedAtMs: number; signatures: string[] } {
  const parts = header.split(',').map((part) => part.trim().split('='));
  const of = (name: string) => parts.filter(([key]) => key === name).map(([, ...value]) => value.join('='));
  const [seconds, ...moreTimes] = of('t');
  const signatures = of('v1');
  const holds =
    seconds !== undefined &&
    /^[0-9]{1,12}$/.test(seconds) &&
    moreTimes.length === 0 &&
    signatures.length > 0 &&
    signatures.length <= SIGNATURES_MAX &&
    signatures.every((signature) => /^[0-9a-f]{64}$/.test(signature));
  if (!holds) {
    throw new EventProblem({
      code: 'signature_malformed',
      message: 'The header Stripe-Signature is not t=<seconds>,v1=<64 hex digits>',
      fix: 'Send the header as the processor sent it',
    });
  }
  return { signedAtMs: Number(seconds) * 1_000, signatures };
}
