/** Why an answer is a refusal, in every dialect that the service speaks. */
import type { Reply } from './reply.ts';

/** Every name of an answer's reason, the most exact first. */
export function reasonsOf({ status, body }: Pick<Reply, 'status' | 'body'>): string[] {
  if (!isMap(body)) return [];
  const details = isMap(body.details) ? body.details : {};
  const names = [details.reason, body.code, details.code, body.error].filter(
    (name): name is string => typeof name === 'string',
  );
  // The earlier dialect names no reason for a duplicate.
  if (status === 409 && 'existingEventId' in details) names.push('duplicate');
  return [...new Set(names.map(slug))];
}

/** `Max claims reached` and `max_claims_reached` are the same reason. */
export const slug = (text: string) =>
  text
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_');

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
