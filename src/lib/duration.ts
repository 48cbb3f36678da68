/** Lengths of time as people write them: 500ms, 90s, 15m, 36h, 7d, 1h30m. */

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** The form of a duration, for schemas; `parseDuration` takes blanks around it too. */
export const DURATION_FORM = /^(?:\d{1,15}(?:\.\d{1,3})?(?:ms|s|m|h|d))+$/;
export const PADDED_DURATION_FORM = new RegExp(`^\\s*${DURATION_FORM.source.slice(1, -1)}\\s*$`);
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;

/** Milliseconds, or undefined when the text is not a duration. */
export function parseDuration(text: string): number | undefined {
  const compact = text.trim();
  if (!DURATION_FORM.test(compact)) return undefined;
  let totalMs = 0;
  for (const [, amount, unit] of compact.matchAll(PART)) {
    totalMs += Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
  }
  return Number.isSafeInteger(Math.round(totalMs)) ? Math.round(totalMs) : undefined;
}

/** The shortest exact writing of a length of time, such as `23h59m58s`; whole seconds from one second on. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`;
  let leftMs = Math.ceil(ms / 1_000) * 1_000;
  let text = '';
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    const amount = Math.floor(leftMs / UNIT_MS[unit]);
    leftMs -= amount * UNIT_MS[unit];
    if (amount > 0) text += `${amount}${unit}`;
  }
  return text;
}
