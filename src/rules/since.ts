/** Where a comparison of a part of the history begins. */
import { instant } from '../lib/setting.ts';

/** A block, or a time in milliseconds since 1970. */
export type Since = { block: number } | { timeMs: number };

/** What `--since` must be. */
export const SINCE_MUST_BE = 'a block number, or a time such as 2030-01-01T00:00:00Z';

/** Undefined when the text is neither a block number nor a time. */
export function parseSince(text: string): Since | undefined {
  if (/^\d{1,15}$/.test(text)) return { block: Number(text) };
  const timeMs = instant.parse(text);
  return timeMs === undefined ? undefined : { timeMs };
}
