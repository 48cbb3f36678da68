/** `--expect 429:cooldown`: the answer that counts as success. */
import type { Reply } from '../../client/reply.ts';
import { usageError } from '../machine/errors.ts';
import { isObject } from './assignments.ts';

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

/** Every name of an answer's reason, the most exact first. */
export function reasonsOf({ status, body }: Pick<Reply, 'status' | 'body'>): string[] {
  if (!isObject(body)) return [];
  const details = isObject(body.details) ? body.details : {};
  const names = [details.reason, body.code, details.code, body.error].filter(
    (name): name is string => typeof name === 'string',
  );
  // The earlier dialect names no reason for a duplicate.
  if (status === 409 && 'existingEventId' in details) names.push('duplicate');
  return [...new Set(names.map(slug))];
}

/** `Max claims reached` and `max_claims_reached` are the same reason. */
const slug = (text: string) =>
  text
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_');
