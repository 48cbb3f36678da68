/** What is known of a job, from the lines that its process writes. */
import type { Job, JobDetail, LoadSecond, ScenarioStep } from '../../contract/control/jobs.ts';

/** Of a load test an hour; of scenarios more than anybody reads. */
const KEPT_MAX = 3_600;
/** Enough for the last words of a process that ends without a result. */
const WORDS_MAX = 4_000;

export type JobRecord = ReturnType<typeof createJobRecord>;

export function createJobRecord(is: Pick<Job, 'id' | 'kind' | 'command' | 'startedAt'>) {
  const seconds: LoadSecond[] = [];
  const steps: ScenarioStep[] = [];
  let leftOut = 0;
  let words = '';
  let job: Job = { ...is, state: 'running', endedAt: null, progress: null, problem: null };
  let report: JobDetail['report'] = null;
  let passed: boolean | undefined;

  function keep<T>(list: T[], one: T): void {
    list.push(one);
    if (list.length <= KEPT_MAX) return;
    list.shift();
    leftOut += 1;
  }

  return {
    /** A line of its standard output; what is none of ours is passed over. */
    read(line: string): void {
      const said = parsed(line);
      if (said.type === 'second') {
        const second = said.second as LoadSecond;
        const { phase, done, of } = second;
        keep(seconds, second);
        job = { ...job, progress: { phase, done, of } };
      } else if (said.type === 'step') keep(steps, said.step as ScenarioStep);
      else if (said.type === 'progress') job = { ...job, progress: said.progress as Job['progress'] };
      else if (typeof said.ok === 'boolean') {
        passed = said.ok;
        report = (said.data ?? null) as JobDetail['report'];
        const { code = '', message = '', hint = '' } = Object(said.error);
        if (!said.ok) job = { ...job, problem: { code, message, fix: hint } };
      }
    },
    /** What it writes on standard error. */
    readWords(text: string): void {
      words = (words + text).slice(-WORDS_MAX);
    },
    /** Its process has ended; `stopped` where that was wished. */
    end(endedAt: string, stopped: boolean): void {
      const isWithoutResult = passed === undefined && !stopped;
      job = {
        ...job,
        endedAt,
        state: stopped ? 'stopped' : passed ? 'passed' : 'failed',
        ...(isWithoutResult && { problem: endedEarly(words) }),
      };
    },
    summary: (): Job => job,
    detail: (): JobDetail => ({ ...job, seconds: [...seconds], steps: [...steps], leftOut, report }),
  };
}

const endedEarly = (words: string): Job['problem'] => ({
  code: 'E_INTERNAL',
  message: words.trim().split('\n').at(-1) || 'Its process ended without a result.',
  fix: 'Run the command in a shell: it says more there.',
});

function parsed(line: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(line));
  } catch {
    return {};
  }
}
