/** Takes secrets out of what is reported. */

const HIDDEN = '[secret]';
/** Shorter ones would blacken half of a report. */
const SECRET_MIN = 4;

/** A function that replaces each of `secrets` in all texts of a JSON value. */
export function redactor(secrets: readonly (string | undefined)[]): <Value>(value: Value) => Value {
  const hidden = secrets.filter((one): one is string => one !== undefined && one.length >= SECRET_MIN);
  const redacted = (value: unknown): unknown => {
    if (typeof value === 'string') return hidden.reduce((text, one) => text.replaceAll(one, HIDDEN), value);
    if (Array.isArray(value)) return value.map(redacted);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, redacted(one)]));
  };
  return <Value>(value: Value) => redacted(value) as Value;
}
