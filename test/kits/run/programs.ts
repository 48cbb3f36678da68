/** Programs of the system that some tests run, which a machine may do without. */
import { spawnSync } from 'node:child_process';
import { leaveOut } from './left-out.ts';

/** What each is tried with, since a program of that name may be another one or lack what the tests use. */
const PROGRAMS = {
  bash: { tried: ['-c', 'exit 0'], remedy: 'install bash' },
  curl: { tried: ['--version'], remedy: 'install curl' },
  fish: { tried: ['-c', 'exit 0'], remedy: 'install fish' },
  go: { tried: ['version'], remedy: 'install golang-go' },
  python3: { tried: ['-c', 'import ensurepip, venv'], remedy: 'install python3 with venv and pip' },
  /** A terminal for what runs in it. */
  script: { tried: ['-qec', 'true', '/dev/null'], remedy: 'install the script of util-linux' },
  tmux: { tried: ['-V'], remedy: 'install tmux' },
  zsh: { tried: ['-c', 'exit 0'], remedy: 'install zsh' },
};

/** Why a program cannot be run here; undefined when it can. Throws where every part is required. */
export function programMissing(name: keyof typeof PROGRAMS): string | undefined {
  const { tried, remedy } = PROGRAMS[name];
  return spawnSync(name, tried, { stdio: 'ignore' }).status === 0 ? undefined : leaveOut(name, remedy);
}
