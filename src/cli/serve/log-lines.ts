/** The program's log for people: time, level, message, fields, one line each. */
import type { Style } from '../terminal/style.ts';

/** Rewrites a line of the JSON log; anything else stays as it is. */
export function logLine(json: string, style: Style): string {
  const { dim, yellow, red } = style;
  const paint: Record<string, (text: string) => string> = { debug: dim, warn: yellow, error: red };
  const entry = parsed(json);
  if (!entry) return json;
  const { time, level, message, ...fields } = entry;
  const facts = Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => dim(`${name}=${value}`));
  const name = String(level).padEnd(5);
  return `${[dim(String(time).slice(11, 19)), paint[String(level)]?.(name) ?? name, message, ...facts].join('  ')}\n`;
}

function parsed(json: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
