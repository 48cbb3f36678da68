/** Reads what a developer asks to fail: `node`, `slow:300ms`, three times, for ten minutes. */
import { formatDuration, parseDuration } from '../../lib/duration.ts';
import { nearest } from '../../lib/text/nearest.ts';
import { type Argument, argumentExamples, type SeamName, seams, spelled } from './seams.ts';

export interface FaultWish {
  seam: string;
  /** Default: the first effect of the seam. */
  effect?: string | undefined;
  times?: number | undefined;
  /** A duration of the emulator's clock. */
  for?: string | undefined;
}

export interface ReadFault {
  seam: SeamName;
  effect: string;
  /** Milliseconds or gwei, by the effect. */
  amount: number | undefined;
  /** `slow:300ms`, as it was asked for. */
  written: string;
  times: number | undefined;
  forMs: number | undefined;
}

export interface FaultProblem {
  setting: string;
  message: string;
}

export interface FaultLimits {
  /** The most uses that one fault strikes. */
  timesMax: number;
  /** The longest wait that a fault adds to one call. */
  slowMaxMs: number;
  /** The longest span on the emulator's clock by which something comes late or jumps. */
  spanMaxMs: number;
  /** How long a fault may stay set, on the emulator's clock. */
  forMaxMs: number;
}

/** The fault, or everything that is wrong with the wish. */
export function readFault(wish: FaultWish, limits: FaultLimits): ReadFault | { problems: FaultProblem[] } {
  const seam = knownSeam(wish.seam);
  if (!seam) return { problems: [unknown('seam', wish.seam, Object.keys(seams))] };
  const { effects } = seams[seam];
  const asked = wish.effect ?? Object.keys(effects)[0] ?? '';
  const [name = '', ...rest] = asked.split(':');
  const effect = Object.hasOwn(effects, name) ? effects[name] : undefined;
  if (!effect) {
    const known = Object.entries(effects).map(([known, one]) => spelled(known, one));
    return { problems: [unknown('effect', asked, known, Object.keys(effects))] };
  }
  const text = rest.length > 0 ? rest.join(':') : undefined;
  const amount = readAmount(text, { name, argument: effect.argument, limits });
  const forMs = wish.for === undefined ? undefined : parseDuration(wish.for);
  const problems = [
    ...(typeof amount === 'object' ? [amount] : []),
    ...timesProblem(seam, wish.times, limits),
    ...forProblem(wish.for, forMs, limits),
  ];
  if (problems.length > 0) return { problems };
  return {
    seam,
    effect: name,
    written: asked,
    times: wish.times,
    forMs,
    amount: typeof amount === 'number' ? amount : undefined,
  };
}

const knownSeam = (name: string): SeamName | undefined =>
  Object.hasOwn(seams, name) ? (name as SeamName) : undefined;

function unknown(
  setting: 'seam' | 'effect',
  given: string,
  known: readonly string[],
  names = known,
): FaultProblem {
  const meant = nearest(given.split(':')[0] ?? '', names);
  const guess = meant ? `: did you mean ${meant}?` : '';
  return { setting, message: `must be one of ${known.join(', ')}, not "${given.slice(0, 40)}"${guess}` };
}

/** The number after the colon; undefined where there is none and none is needed. */
function readAmount(
  text: string | undefined,
  of: { name: string; argument: Argument | undefined; limits: FaultLimits },
): number | undefined | FaultProblem {
  const { name, argument, limits } = of;
  const wrong = (message: string): FaultProblem => ({ setting: 'effect', message });
  if (!argument) return text === undefined ? undefined : wrong(`${name} takes nothing after a colon`);
  const example = `${name}:${argumentExamples[argument]}`;
  if (argument === 'gwei') {
    const gwei = /^(\d{1,7})\s*gwei$/.exec(text ?? '')?.[1];
    return gwei === undefined ? wrong(`${name} needs a price, such as ${example}`) : Number(gwei);
  }
  const ms = text === undefined ? undefined : parseDuration(text);
  if (!ms) return wrong(`${name} needs a duration, such as ${example}`);
  const mostMs = argument === 'wait' ? limits.slowMaxMs : limits.spanMaxMs;
  return ms <= mostMs ? ms : wrong(`${name} takes at most ${formatDuration(mostMs)}`);
}

function timesProblem(seam: SeamName, times: number | undefined, { timesMax }: FaultLimits): FaultProblem[] {
  if (times !== undefined && seam === 'clock')
    return [{ setting: 'times', message: 'cannot be counted for the clock: give `for`, or clear it' }];
  if (times === undefined || (Number.isInteger(times) && times >= 1 && times <= timesMax)) return [];
  return [{ setting: 'times', message: `must be a whole number from 1 to ${timesMax}` }];
}

function forProblem(
  text: string | undefined,
  ms: number | undefined,
  { forMaxMs }: FaultLimits,
): FaultProblem[] {
  if (text === undefined || (ms !== undefined && ms >= 1 && ms <= forMaxMs)) return [];
  const days = forMaxMs / 86_400_000;
  return [{ setting: 'for', message: `must be a duration such as 10m, up to ${days}d` }];
}
