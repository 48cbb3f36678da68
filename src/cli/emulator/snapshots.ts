/** `rewards snapshot save|restore|list|diff|rm`: asks the running stack over its control API. */
import { resolve } from 'node:path';
import type { SavedSnapshot, Snapshot, SnapshotDiff } from '../../contract/control/snapshots.ts';
import * as snapshots from '../../contract/control/snapshots.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { replyResult } from '../service/control-reply.ts';
import { callFor } from '../service/target.ts';
import type { Style } from '../terminal/style.ts';

export const saveSnapshot: Handler<{ name?: string; note?: string; replace?: boolean }> = async (
  context,
  { name, note, replace },
) => {
  const call = await callFor(context);
  const reply = await call(snapshots.saveSnapshot, { body: { name, note, replace } });
  return replyResult(reply, { text: savedText });
};

export const restoreSnapshot: Handler<{ name: string }> = async (context, { name }) => {
  const call = await callFor(context);
  const which = isPath(name) ? { file: resolve(context.runtime.cwd, name) } : { name };
  return replyResult(await call(snapshots.restoreSnapshot, { body: which }), {
    text: ({ from, chain, clock, tookMs }, style) =>
      `${style.green('restored')}  ${from}  ${style.dim(`block ${chain.block}, clock ${clock.now}${clock.frozen ? ' frozen' : ''}, ${tookMs} ms`)}`,
  });
};

export async function listSnapshots(context: CommandContext) {
  const call = await callFor(context);
  return replyResult(await call(snapshots.listSnapshots), {
    text: ({ snapshots: all, unreadable }, style) =>
      [
        ...all.map((one) => listLine(one, style)),
        ...unreadable.map((name) => `${name}  ${style.yellow('cannot be read')}`),
        ...(all.length + unreadable.length === 0
          ? [style.dim('no snapshots yet: `rewards snapshot save base` takes one')]
          : []),
      ].join('\n'),
  });
}

export const diffSnapshots: Handler<{ from: string; to?: string }> = async (
  context,
  { from, to = 'now' },
) => {
  const call = await callFor(context);
  const reply = await call(snapshots.diffSnapshots, { path: { name: from }, query: { to } });
  return replyResult(reply, { text: diffText });
};

export const removeSnapshot: Handler<{ name: string }> = async (context, { name }) => {
  const call = await callFor(context);
  return replyResult(await call(snapshots.removeSnapshot, { path: { name } }), {
    text: ({ removed }, style) => `${style.green('removed')}  ${removed}`,
  });
};

/** A name has neither slashes nor the ending of a file. */
const isPath = (name: string) => /[/\\]|\.rewards$/.test(name);

const savedText = ({ name, chain, bytes, file, tookMs }: SavedSnapshot, style: Style) =>
  `${style.green('saved')}  ${style.bold(name)}  ${style.dim(`block ${chain.block}, ${kilobytes(bytes)}, ${tookMs} ms`)}\n${file}`;

function listLine({ name, takenAt, chain, bytes, clock, note }: Snapshot, style: Style): string {
  const at = `${new Date(clock.nowMs).toISOString()}${clock.frozen ? ' frozen' : ''}`;
  const facts = `taken ${takenAt}  clock ${at}  block ${chain.block}  ${kilobytes(bytes)}`;
  return [style.bold(name), style.dim(facts), ...(note ? [note] : [])].join('  ');
}

function diffText({ lines, clockMs, isSame }: SnapshotDiff, style: Style): string {
  const sign = clockMs < 0 ? '-' : '+';
  const clock = `clock ${sign}${formatDuration(Math.abs(clockMs))}`;
  return isSame ? `nothing is different  ${style.dim(clock)}` : [...lines, clock].join(', ');
}

const kilobytes = (bytes: number) => `${Math.ceil(bytes / 1_024)} KB`;

export async function undo(context: CommandContext) {
  const call = await callFor(context);
  return replyResult(await call(snapshots.undo), {
    text: ({ undone, chain, clock, tookMs }, style) =>
      [
        ...undone.map(({ id, at, method, path, status }) =>
          [style.green('took back'), method, path, String(status), style.dim(at), ...(id ? [id] : [])].join(
            '  ',
          ),
        ),
        style.dim(`block ${chain.block}, clock ${clock.now}${clock.frozen ? ' frozen' : ''}, ${tookMs} ms`),
      ].join('\n'),
  });
}
