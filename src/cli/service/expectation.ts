/** `--expect 429:cooldown`: the answer that counts as success. */
import { reasonsOf, slug } from '../../client/reasons.ts';
import type { Reply } from '../../client/reply.ts';
import { usageError } from '../machine/errors.ts';

export interface Expectation {
  /** Three characters, each a digit or an x that stands for any. */
  status: string;
  reason?: string | undefined;
}

/** Reads `<status>` or `<status>:<reason>`; E_USAGE for anything else. */
export function parseExpectation(text: string): Expectation {
  const [, status, reason] = /^([1-5](?:\d\d|xx))(?::([\w .-]+))?$/i.exec(text) ?? [];
  if (status === undefined) {
    throw usageError(
      `--expect ${text} is not understood.`,
      'Give a status, such as 200 or 4xx, or a status and a reason, such as 429:cooldown.',
    );
  }
  return { status: status.toLowerCase(), reason: reason === undefined ? undefined : slug(reason) };
}

export function matches(reply: Reply, expected: Expectation): boolean {
  const digits = String(reply.status);
  const statusFits = [...expected.status].every(
    (wanted, index) => wanted === 'x' || wanted === digits[index],
  );
  return statusFits && (expected.reason === undefined || reasonsOf(reply).includes(expected.reason));
}
