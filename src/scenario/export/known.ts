/** What the export of a file knows while it writes: names of what steps saw, what the test needs, what cannot be said in it. */
import type { Scenario, Step } from '../format/scenario.ts';
import type { HelperName } from './helpers.ts';

/** A line of the scenario, and what has to be known of it. */
export interface Remark {
  line: number;
  message: string;
}

/** What has no form in a test, with its place. */
export interface Unsayable extends Remark {
  col: number;
  source: string;
}

export interface Known {
  scenario: Scenario;
  /** What the test expresses in another way than the scenario. */
  notes: Remark[];
  /** What has no form in a test. */
  problems: Unsayable[];
  /** Functions and values that the test needs beside the library. */
  uses: Set<HelperName>;
  /** Expressions for what steps saw, by their ids. */
  seen: Map<string, string>;
  /** Ids of steps whose decision another step names. */
  decisions: ReadonlySet<string>;
  /** Expression for the number of the repetition. */
  repeat: string;
  /** Whether constants of this place can be seen by all later steps. */
  atTop: boolean;
  /** A name for a constant that the test has not. */
  freshName: (wish: string) => string;
}

export function refuse({ scenario, problems }: Known, { path }: Step, message: string): void {
  problems.push({ ...scenario.placeOf(path), message });
}

export const lineOf = ({ scenario }: Known, step: Step) => scenario.placeOf(step.path).line;

const WORDS =
  'break case catch class const continue debugger default delete do else enum export extends false finally for function if import in instanceof new null return super switch this throw true try typeof var void while with yield let static await async of implements interface package private protected public arguments eval undefined NaN Infinity any';
const OWN =
  'stack seen vars matrix accounts test expect expectFits startStack onTestFinished repeated statuses repeat one place hex later environment process crypto';

/** Gives each name once, none of them a word of the language or of the test. */
export function createNames(): (wish: string) => string {
  const taken = new Set([...WORDS.split(' '), ...OWN.split(' ')]);
  return (wish) => {
    const [first = 'step', ...rest] = wish.split(/[^A-Za-z0-9_]+/).filter(Boolean);
    const name = first + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
    let free = taken.has(name) && !/^answers?$/.test(name) ? `${name}Step` : name;
    for (let count = 2; taken.has(free); count++) free = `${name}${count}`;
    taken.add(free);
    return free;
  };
}
