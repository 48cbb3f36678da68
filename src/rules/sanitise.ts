/** Takes out of texts what no field may hold: control characters, direction overrides, halves of characters. */

/** C0, DEL and C1 controls; the marks that reorder how a text is shown; surrogates without their other half. */
const UNWANTED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/gu;

export const sanitiseText = (text: string) => text.replace(UNWANTED, '');

/**
 * The same for every text and every name of field in a JSON value. The recursion is as deep as the value, so callers bound its depth first.
 * A name that is `__proto__` without its unwanted characters was meant to get past a check: its field is left out.
 */
export function sanitiseValue(value: unknown): unknown {
  if (typeof value === 'string') return sanitiseText(value);
  if (Array.isArray(value)) return value.map(sanitiseValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, inner]) => [sanitiseText(name), sanitiseValue(inner)] as const)
      .filter(([name]) => name !== '__proto__'),
  );
}
