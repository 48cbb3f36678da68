/** Jobs as tables show them. */
import type { Child, FC } from 'hono/jsx';
import { type Job, stopJob } from '../../../contract/control/jobs.ts';
import { pageAddress } from '../../page.ts';
import { Action } from '../../parts/action.tsx';
import { Table } from '../../parts/table.tsx';
import { State, Text } from '../../parts/text.tsx';

export const jobAddress = (id: string) => pageAddress(`/jobs/${id}`);

const KINDS = { running: 'waiting', passed: 'good', failed: 'bad', stopped: 'plain' } as const;

export const JobState: FC<{ of: Job }> = ({ of: { state } }) => <State is={KINDS[state]}>{state}</State>;

/** `relaying 120 of 500`. */
export const progressText = ({ progress, state }: Job): string =>
  progress === null
    ? state === 'running'
      ? 'it begins'
      : '–'
    : `${progress.phase} ${progress.done} of ${progress.of}`;

export const JobTable: FC<{ jobs: readonly Job[]; empty: string }> = ({ jobs, empty }) => (
  <Table
    label="Jobs"
    columns={['job', 'state', 'how far', 'command']}
    rows={jobs.map((job): Child[] => [
      <a href={jobAddress(job.id)}>{job.id}</a>,
      <JobState of={job} />,
      progressText(job),
      <Text of={job.command} />,
    ])}
    empty={empty}
  />
);

export const StopJob: FC<{ of: Job }> = ({ of: { id, state } }) =>
  state === 'running' ? (
    <Action endpoint={stopJob} path={{ job: id }} label="Stop" command="Ctrl-C, where it runs in a shell" />
  ) : null;
