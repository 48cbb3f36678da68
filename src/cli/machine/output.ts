/** One result in four formats: text for people, json and jsonl for programs, env for shells. */
import { shellWord } from '../../lib/text/shell-quoted.ts';
import type { Style } from '../terminal/style.ts';
import { errorTable, type Problem } from './errors.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';

export const outputFormats = ['text', 'json', 'jsonl', 'env'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** What a command returns. A refusal is a result too; an error is thrown only when the command cannot continue. */
export type CommandResult =
  | {
      ok: true;
      data: unknown;
      /** What `-o env` prints, where that is not all of the data. */
      env?: unknown;
      /** Where it is printed in place of stdout; `write` throws a CliError. */
      into?: { name: string; write: (text: string) => void };
      text: (style: Style) => string;
    }
  | { ok: false; error: Problem; data?: unknown; text?: (style: Style) => string };

/** The envelope's fields beside the data. */
interface Meta {
  command: string;
  durationMs: number;
  target: string | null;
  requestId?: string;
}

/** The JSON document of `-o json`, the same for every command; fields are only ever added. */
export function envelope(result: CommandResult, meta: Meta) {
  return result.ok
    ? { ok: true, data: result.data, meta }
    : { ok: false, error: printed(result.error), data: result.data ?? null, meta };
}

/** The JSON document calls the fix `hint`. */
const printed = ({ code, message, fix, retryable, details }: Problem) => ({
  code,
  message,
  hint: fix,
  retryable,
  details,
});

export const exitCodeOf = (result: CommandResult): ExitCode =>
  result.ok ? exitCodes.done : errorTable[result.error.code].exit;

/** The text for both streams: data goes to stdout, messages for people to stderr. */
export function render(
  result: CommandResult,
  wish: { format: OutputFormat; meta: Meta; stdoutStyle: Style; stderrStyle: Style },
): { stdout: string; stderr: string } {
  if (wish.format === 'json' || wish.format === 'jsonl') {
    return { stdout: `${JSON.stringify(envelope(result, wish.meta))}\n`, stderr: '' };
  }
  if (!result.ok) {
    const text = result.text ?? ((style: Style) => problemText(result.error, style));
    return { stdout: '', stderr: withNewline(text(wish.stderrStyle)) };
  }
  const text = wish.format === 'env' ? envLines(result.env ?? result.data) : result.text(wish.stdoutStyle);
  return { stdout: withNewline(text), stderr: '' };
}

/** A problem for people: the message, then the fix. */
export function problemText(problem: Problem, style: Style): string {
  const [message = '', ...more] = problem.message.split('\n');
  return [
    `${style.red('error')}: ${message}  ${style.dim(problem.code)}`,
    ...more.map((line) => `  ${line}`),
    `  ${style.dim('fix')}  ${problem.fix}`,
  ].join('\n');
}

/** `BODY_REWARD_AMOUNT=100`: every leaf of the data as a line that a POSIX shell can read; of two with one name the first. */
export function envLines(data: unknown): string {
  const lines = new Map<string, string>();
  for (const [name, value] of leavesOf(data))
    if (!lines.has(name)) lines.set(name, `${name}=${value && shellWord(value)}`);
  return [...lines.values()].join('\n');
}

function leavesOf(data: unknown, path: string[] = []): [name: string, value: string][] {
  if (typeof data === 'object' && data !== null)
    return Object.entries(data).flatMap(([key, value]) => leavesOf(value, [...path, key]));
  return [[path.map(upperSnake).join('_') || 'VALUE', String(data ?? '')]];
}

const upperSnake = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toUpperCase();

const withNewline = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`);
