/** What a job runs: a command of this program, as somebody would type it. */
import type { LoadWish } from '../../contract/control/jobs.ts';

/** The words after `rewards`. Values are never taken for options, whatever they begin with. */
export function loadWords(wish: LoadWish): string[] {
  const { test, users, perUser, concurrency, rate, duration, brand, event, oneAddress, reset, thresholds } =
    wish;
  const isRelay = test === 'relay';
  return [
    'load',
    test,
    `--users=${users}`,
    ...(perUser === undefined ? [] : [`--per-user=${perUser}`]),
    ...(concurrency === undefined ? [] : [`--concurrency=${concurrency}`]),
    ...(rate === undefined ? [] : [`--rate=${rate}`]),
    ...(duration === undefined ? [] : [`--duration=${duration.trim()}`]),
    ...(brand === undefined ? [] : [`--brand=${brand}`]),
    ...(isRelay || event === undefined ? [] : [`--event=${event}`]),
    ...(isRelay && oneAddress ? ['--one-address'] : []),
    ...(isRelay && !reset ? ['--no-reset'] : []),
    ...thresholds.map((threshold) => `--threshold=${threshold}`),
  ];
}

/** One file after the other: side by side, their stacks would take the machine from this one. The files are those of a list. */
export const scenarioWords = (files: readonly string[]): string[] => [
  'scenario',
  'run',
  '--jobs=1',
  ...files,
];
