/** A line of a stack's log file, for people. */
import type { RequestSummary } from '../../contract/control/requests.ts';
import type { OutputFormat } from '../machine/output.ts';
import { requestLine } from '../requests/request-line.ts';
import { logLine } from '../run/banner.ts';
import type { Style } from '../terminal/style.ts';

/** As it stands in the file for json; a line that is not understood stays as it is. */
export function logEntry(line: string, format: OutputFormat, style: Style): string {
  if (format === 'json' || format === 'jsonl') return line;
  const entry = parsed(line);
  if (!entry) return line;
  const at = style.dim(String(entry.time).slice(11, 19));
  if (entry.type === 'request') return requestLine(entry as unknown as RequestSummary, style);
  if (entry.type === 'start')
    return `${at}  ${style.green('started')}  ${entry.url}  ${style.dim(`process ${entry.pid}`)}`;
  if (entry.type === 'stop') return `${at}  ${style.yellow('stopped')}  by ${entry.signal}`;
  return logLine(line, style).trimEnd();
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'object' && entry !== null ? (entry as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
