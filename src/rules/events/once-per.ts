/** What an event is paid once for: the value of a field of its metadata that the rule names (`oncePer`), such as an order's id. */

/** The thing that is paid once for each user, for ever. */
export interface Once {
  /** The field of the metadata, such as `order_id`. */
  field: string;
  /** Its value as text: the number 17 and the text "17" are the same order. */
  value: string;
}

/** Longer than the ids of shops and platforms are; the value is part of a key of the database. */
export const ONCE_VALUE_MAX = 200;

/** The value of the field, or what is wrong with it; `missing` where the event does not have the field at all. */
export function onceOf(
  field: string,
  metadata: Record<string, unknown>,
): { once: Once } | { problem: string; missing: boolean } {
  const sent = Object.hasOwn(metadata, field) ? metadata[field] : undefined;
  const value = typeof sent === 'number' ? String(sent) : sent;
  const refused = (problem: string, missing = false) => ({
    problem: `metadata.${field}: ${problem}`,
    missing,
  });
  if (value === undefined || value === null || (typeof value === 'string' && value.trim() === ''))
    return refused(`is required: the event is paid once for each ${field}`, sent === undefined);
  if (typeof value !== 'string') return refused('must be a text or a number');
  // Ids of tweets are larger: as numbers, two neighbours would have arrived as one.
  if (typeof sent === 'number' && Number.isInteger(sent) && !Number.isSafeInteger(sent))
    return refused('is too large to be exact as a number: send it as a text');
  const text = value.trim().normalize('NFC');
  if (text.length > ONCE_VALUE_MAX) return refused(`must have at most ${ONCE_VALUE_MAX} characters`);
  return { once: { field, value: text } };
}
