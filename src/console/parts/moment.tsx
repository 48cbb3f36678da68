/** Moments as pages show them: how far from now by the stack's clock, and exactly. */
import type { FC } from 'hono/jsx';
import { formatDuration } from '../../lib/duration.ts';

/** `2 min ago`, `in 23 h`; the exact time is its title. `at` is RFC 3339 or milliseconds. */
export const Moment: FC<{ at: string | number | null | undefined; nowMs: number }> = ({ at, nowMs }) => {
  const atMs = typeof at === 'string' ? Date.parse(at) : at;
  if (atMs === null || atMs === undefined || Number.isNaN(atMs)) return <span>–</span>;
  const exact = new Date(atMs).toISOString();
  return (
    <time datetime={exact} title={exact}>
      {distanceText(atMs - nowMs)}
    </time>
  );
};

/** The same, spelled out. */
export const ExactMoment: FC<{ at: string | number | null | undefined; nowMs: number }> = ({ at, nowMs }) => {
  const atMs = typeof at === 'string' ? Date.parse(at) : at;
  if (atMs === null || atMs === undefined || Number.isNaN(atMs)) return <span>–</span>;
  const exact = new Date(atMs).toISOString();
  return (
    <time datetime={exact}>
      {exact.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')} ({distanceText(atMs - nowMs)})
    </time>
  );
};

const MINUTE_MS = 60_000;

/** `3s ago`, `in 1h30m`: seconds matter below an hour, minutes below two days, then days and hours. */
export function distanceText(ms: number): string {
  const far = Math.abs(ms);
  if (far < 1_000) return 'now';
  const unitMs = far < 60 * MINUTE_MS ? 1_000 : far < 48 * 60 * MINUTE_MS ? MINUTE_MS : 60 * MINUTE_MS;
  const text = formatDuration(Math.floor(far / unitMs) * unitMs);
  return ms < 0 ? `${text} ago` : `in ${text}`;
}
