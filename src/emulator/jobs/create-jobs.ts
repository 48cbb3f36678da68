/** Starts jobs, watches them, and ends them with the emulator. They live through resets and snapshots of the stack. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Job, JobDetail, LoadWish } from '../../contract/control/jobs.ts';
import type { ControlRefusal } from '../../contract/control/refusals/control-refusals.ts';
import type { Clock } from '../../lib/clock.ts';
import { pastedWord } from '../../lib/text/shell-quoted.ts';
import { within } from '../../lib/timers.ts';
import { emulatorLimits } from '../limits.ts';
import type { Program, Workbench } from '../workbench.ts';
import { loadWords, scenarioWords } from './job-command.ts';
import { createJobRecord, type JobRecord } from './job-record.ts';

interface JobsDeps {
  /** Undefined inside of another program. */
  workbench: Workbench | undefined;
  /** The machine's: jobs take real time. */
  clock: Pick<Clock, 'now'>;
  /** The stack that load tests are sent to; undefined before it is open. */
  target: () => { url: string; token: string } | undefined;
}

type Refused = { refusal: ControlRefusal };

export interface Jobs {
  startLoad(wish: LoadWish): Job | Refused;
  startScenarios(files: readonly string[]): Promise<Job | Refused>;
  list(): Job[];
  show(id: string): JobDetail | Refused;
  /** As Ctrl-C does; resolves once it has ended. */
  stop(id: string): Promise<Job | Refused>;
  /** Grows with everything that is heard of them. */
  changes(): number;
  /** Ends them all. */
  close(): Promise<void>;
}

interface Running {
  record: JobRecord;
  child: ChildProcess;
  ended: Promise<void>;
  isStopped: boolean;
}

const { keptMax, stopMaxMs, closeMaxMs } = emulatorLimits.jobs;

export function createJobs({ workbench, clock, target }: JobsDeps): Jobs {
  const records = new Map<string, JobRecord>();
  let count = 0;
  let changes = 0;
  let running: Running | undefined;
  const nowText = () => new Date(clock.now()).toISOString();

  function start(
    { kind, words, more = [] }: { kind: Job['kind']; words: string[]; more?: string[] },
    env: Record<string, string | undefined>,
  ): Job | Refused {
    const program = workbench?.program;
    if (!program) return { refusal: { code: 'jobs_unsupported' } };
    if (running) return { refusal: { code: 'job_running', id: running.record.summary().id } };
    count += 1;
    const id = `job-${count}`;
    const record = createJobRecord({
      id,
      kind,
      command: ['rewards', ...words].map(pastedWord).join(' '),
      startedAt: nowText(),
    });
    const child = startProcess(program, [...more, ...words], env);
    const mine: Running = { record, child, isStopped: false, ended: Promise.resolve() };
    mine.ended = heard(child, record, () => changes++).then(() => {
      record.end(nowText(), mine.isStopped);
      if (running === mine) running = undefined;
      changes += 1;
    });
    running = mine;
    records.set(id, record);
    for (const oldest of [...records.keys()].slice(0, Math.max(0, records.size - keptMax)))
      records.delete(oldest);
    return record.summary();
  }

  return {
    startLoad(wish) {
      const at = target();
      // Before its first request is answered nobody can ask for a job.
      if (!at) return { refusal: { code: 'jobs_unsupported' } };
      return start(
        {
          kind: 'load',
          words: loadWords(wish),
          more: [...(workbench?.program?.options ?? []), '--target', at.url],
        },
        { REWARDS_CONTROL_TOKEN: at.token },
      );
    },
    async startScenarios(files) {
      if (!workbench) return { refusal: { code: 'jobs_unsupported' } };
      const { scenarios } = await workbench.scenarios();
      const unknown = files.find((file) => !scenarios.some((one) => one.file === file));
      if (unknown !== undefined) return { refusal: { code: 'scenario_not_found', file: unknown } };
      // A target of the shell that started the stack is not theirs: each has a stack of its own.
      return start({ kind: 'scenarios', words: scenarioWords(files) }, { REWARDS_TARGET: undefined });
    },
    list: () => [...records.values()].map((record) => record.summary()).reverse(),
    show: (id) => records.get(id)?.detail() ?? { refusal: { code: 'job_not_found', name: id } },
    async stop(id) {
      const record = records.get(id);
      if (!record) return { refusal: { code: 'job_not_found', name: id } };
      if (running?.record === record) await end(running, stopMaxMs);
      return record.summary();
    },
    changes: () => changes,
    async close() {
      if (running) await end(running, closeMaxMs);
    },
  };
}

async function end(job: Running, patienceMs: number): Promise<void> {
  job.isStopped = true;
  job.child.kill('SIGINT');
  const ended = job.ended.then(() => true);
  if ((await within(patienceMs, ended)) === undefined) job.child.kill('SIGKILL');
  await job.ended;
}

/** Its lines are for programs, and nothing of the stack's own output reaches it. */
function startProcess(
  { node, script, cwd, env }: Program,
  words: readonly string[],
  more: Record<string, string | undefined>,
): ChildProcess {
  return spawn(node, [script, '--output', 'jsonl', ...words], {
    cwd,
    env: { ...env, ...more },
    windowsHide: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Resolves once the process has ended and all that it wrote has been read. */
async function heard(child: ChildProcess, record: JobRecord, onChange: () => void): Promise<void> {
  const lines = createInterface({ input: child.stdout as Readable });
  lines.on('line', (line) => {
    record.read(line);
    onChange();
  });
  child.stderr?.setEncoding('utf8').on('data', record.readWords);
  child.on('error', (error) => record.readWords(error.message));
  await Promise.race([once(child, 'close'), once(child, 'error')]).catch(() => undefined);
}
