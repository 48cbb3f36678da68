/** `rewards snapshot save|restore|list|diff|rm`: asks the running stack over its control API. */
import { resolve } from 'node:path';
import type { SavedSnapshotBody, SnapshotBody, SnapshotDiffBody } from '../../client/bodies.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { isObject } from '../service/assignments.ts';
import { replyResult } from '../service/control-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import type { Style } from '../terminal/style.ts';

const callsOf = async (context: CommandContext) =>
  clientFor(await resolveTarget(context), context).control.snapshots;

export const saveSnapshot: Handler<{ name?: string; note?: string; replace?: boolean }> = async (
  context,
  { name, note, replace },
) => {
  const reply = await (await callsOf(context)).save({ name, note, replace });
  return replyResult(reply, { hasRightForm: hasText('name'), text: savedText });
};

export const restoreSnapshot: Handler<{ name: string }> = async (context, { name }) => {
  const calls = await callsOf(context);
  const which = isPath(name) ? { file: resolve(context.runtime.cwd, name) } : { name };
  return replyResult(await calls.restore(which), {
    hasRightForm: hasText('from'),
    text: ({ from, chain, clock, tookMs }, style) =>
      `${style.green('restored')}  ${from}  ${style.dim(`block ${chain.block}, clock ${clock.now}${clock.frozen ? ' frozen' : ''}, ${tookMs} ms`)}`,
  });
};

export const listSnapshots = async (context: CommandContext) =>
  replyResult(await (await callsOf(context)).list(), {
    hasRightForm: (body) => isObject(body) && Array.isArray(body.snapshots),
    text: ({ snapshots, unreadable }, style) =>
      [
        ...snapshots.map((one) => listLine(one, style)),
        ...unreadable.map((name) => `${name}  ${style.yellow('cannot be read')}`),
        ...(snapshots.length + unreadable.length === 0
          ? [style.dim('no snapshots yet: `rewards snapshot save base` takes one')]
          : []),
      ].join('\n'),
  });

export const diffSnapshots: Handler<{ from: string; to?: string }> = async (context, { from, to }) =>
  replyResult(await (await callsOf(context)).diff(from, to), {
    hasRightForm: (body) => isObject(body) && Array.isArray(body.lines),
    text: diffText,
  });

export const removeSnapshot: Handler<{ name: string }> = async (context, { name }) =>
  replyResult(await (await callsOf(context)).remove(name), {
    hasRightForm: hasText('removed'),
    text: ({ removed }, style) => `${style.green('removed')}  ${removed}`,
  });

/** A name has neither slashes nor the ending of a file. */
const isPath = (name: string) => /[/\\]|\.rewards$/.test(name);

const hasText = (field: string) => (body: unknown) => isObject(body) && typeof body[field] === 'string';

const savedText = ({ name, chain, bytes, file, tookMs }: SavedSnapshotBody, style: Style) =>
  `${style.green('saved')}  ${style.bold(name)}  ${style.dim(`block ${chain.block}, ${kilobytes(bytes)}, ${tookMs} ms`)}\n${file}`;

function listLine({ name, takenAt, chain, bytes, clock, note }: SnapshotBody, style: Style): string {
  const at = `${new Date(clock.nowMs).toISOString()}${clock.frozen ? ' frozen' : ''}`;
  const facts = `taken ${takenAt}  clock ${at}  block ${chain.block}  ${kilobytes(bytes)}`;
  return [style.bold(name), style.dim(facts), ...(note ? [note] : [])].join('  ');
}

function diffText({ lines, clockMs, isSame }: SnapshotDiffBody, style: Style): string {
  const sign = clockMs < 0 ? '-' : '+';
  const clock = `clock ${sign}${formatDuration(Math.abs(clockMs))}`;
  return isSame ? `nothing is different  ${style.dim(clock)}` : [...lines, clock].join(', ');
}

const kilobytes = (bytes: number) => `${Math.ceil(bytes / 1_024)} KB`;
