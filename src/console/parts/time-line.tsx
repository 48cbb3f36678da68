/** Moments on a line, from now to the last of them: where they lie close together, and where nothing happens. */
import type { FC } from 'hono/jsx';
import { distanceText } from './moment.tsx';

const WIDTH = 1_000;
const HEIGHT = 46;
const EDGE = 8;
const LINE_Y = 14;
const LABELS = 5;

/** What comes soon has as much room as what comes late: distances go by their logarithm. */
const scaleOf = (lastMs: number) => (aheadMs: number) =>
  EDGE + (Math.log1p(aheadMs / 1_000) / Math.log1p(lastMs / 1_000)) * (WIDTH - 2 * EDGE);

/** For the eye and the pointer alone: the table beside it says the same, and a length of time can be typed as well as dragged. */
export const TimeLine: FC<{ moments: readonly { atMs: number; what: string }[]; nowMs: number }> = ({
  moments,
  nowMs,
}) => {
  const ahead = moments.map(({ atMs, what }) => ({ aheadMs: Math.max(0, atMs - nowMs), what }));
  const lastMs = Math.max(1_000, ...ahead.map(({ aheadMs }) => aheadMs));
  const placeOf = scaleOf(lastMs);
  const labels = Array.from({ length: LABELS }, (_, place) =>
    Math.round(Math.expm1((Math.log1p(lastMs / 1_000) * place) / (LABELS - 1)) * 1_000),
  );
  return (
    <svg
      class="time-line"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      aria-hidden="true"
      data-edge={EDGE}
      data-last-ms={lastMs}
    >
      <line x1={EDGE} x2={WIDTH - EDGE} y1={LINE_Y} y2={LINE_Y} />
      <line class="aim" x1={EDGE} x2={EDGE} y1="0" y2={2 * LINE_Y} />
      {ahead.map(({ aheadMs, what }) => (
        <circle cx={placeOf(aheadMs)} cy={LINE_Y} r="6" data-ahead-ms={aheadMs}>
          <title>{`${what}, ${distanceText(aheadMs)}`}</title>
        </circle>
      ))}
      {labels.map((aheadMs, place) => (
        <text
          x={placeOf(aheadMs)}
          y={HEIGHT - 6}
          text-anchor={place === 0 ? 'start' : place === LABELS - 1 ? 'end' : 'middle'}
        >
          {distanceText(aheadMs)}
        </text>
      ))}
    </svg>
  );
};
