import { execFileSync } from 'node:child_process';

/** Builds the program once, so that tests that start the real binary run today's source. */
export default function setup() {
  execFileSync(process.execPath, ['scripts/build.js'], { stdio: 'inherit' });
}
