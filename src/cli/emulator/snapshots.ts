/** `rewards snapshot save|restore|list|diff|rm` and `rewards undo`: ask the running stack over its control API. */

import { resolve } from 'node:path';
import type { SavedSnapshot, Snapshot, SnapshotDiff } from '../../contract/control/snapshots.ts';
import * as snapshots from '../../contract/control/snapshots.ts';
import { formatDuration } from '../../lib/duration.ts';
import { asks } from '../service/control.ts';
import type { Style } from '../terminal/style.ts';

const savedText = ({ name, chain, bytes, file, tookMs }: SavedSnapshot, style: Style) =>
  `${style.green('saved')}  ${style.bold(name)}  ${style.dim(`block ${chain.block}, ${kilobytes(bytes)}, ${tookMs} ms`)}\n${file}`;

export const saveSnapshot = asks(snapshots.saveSnapshot, {
  request: ({ name, note, replace }: { name?: string; note?: string; replace?: boolean }) => ({
    body: { name, note, replace },
  }),
  text: savedText,
});

export const restoreSnapshot = asks(snapshots.restoreSnapshot, {
  phase: 'restoring',
  request: ({ name }: { name: string }, { runtime }) => ({
    body: isPath(name) ? { file: resolve(runtime.cwd, name) } : { name },
  }),
  text: ({ from, chain, clock, tookMs }, style) =>
    `${style.green('restored')}  ${from}  ${style.dim(`block ${chain.block}, clock ${clock.now}${clock.frozen ? ' frozen' : ''}, ${tookMs} ms`)}`,
});

export const listSnapshots = asks(snapshots.listSnapshots, {
  text: ({ snapshots: all, unreadable }, style) =>
    [
      ...all.map((one) => listLine(one, style)),
      ...unreadable.map((name) => `${name}  ${style.yellow('cannot be read')}`),
      ...(all.length + unreadable.length === 0
        ? [style.dim('no snapshots yet: `rewards snapshot save base` takes one')]
        : []),
    ].join('\n'),
});

export const diffSnapshots = asks(snapshots.diffSnapshots, {
  request: ({ from, to = 'now' }: { from: string; to?: string }) => ({ path: { name: from }, query: { to } }),
  text: diffText,
});

export const removeSnapshot = asks(snapshots.removeSnapshot, {
  request: ({ name }: { name: string }) => ({ path: { name } }),
  text: ({ removed }, style) => `${style.green('removed')}  ${removed}`,
});

/** A name has neither slashes nor the ending of a file. */
const isPath = (name: string) => /[/\\]|\.rewards$/.test(name);

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

/** Goes back to before the last change, and says exactly what that took back. */
export const undo = asks(snapshots.undo, {
  phase: 'restoring',
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
