/** Progress of what takes long: a bar that fits the terminal, lines every ten seconds elsewhere; nothing with --quiet, or of what is over sooner. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProgress } from '../../src/cli/terminal/progress.ts';
import { plainStyle } from '../../src/cli/terminal/style.ts';
import { rewards, startHere } from '../kits/service/cli.ts';
import { type ProductionKit, sqliteLedger, startProductionKit } from '../kits/service/production.ts';

const ERASE = '\r\u001b[2K';

/** A terminal of this width, or a pipe, whose time only `passes`. */
function terminal({
  columns,
  env = {},
  quiet = false,
}: {
  columns?: number;
  env?: Record<string, string>;
  quiet?: boolean;
} = {}) {
  let nowMs = 0;
  let written = '';
  const ticks = new Set<{ ms: number; work: () => void }>();
  const stderr = {
    isTTY: columns !== undefined,
    columns,
    isClosed: false,
    backlogBytes: 0,
    failure: undefined,
    write(text: string) {
      written += text;
    },
    flushed: async () => {},
  };
  const settings = { output: 'text', quiet, color: 'never', input: false, timeout: 1_000 } as const;
  const progress = createProgress(
    { runtime: { stderr, env }, settings, style: { stdout: plainStyle, stderr: plainStyle } },
    {
      stopwatch() {
        const sinceMs = nowMs;
        return () => nowMs - sinceMs;
      },
      every(ms, work) {
        const tick = { ms, work };
        ticks.add(tick);
        return () => void ticks.delete(tick);
      },
    },
  );
  return {
    progress,
    /** Whole seconds, one after the other. */
    pass(seconds: number) {
      for (let left = seconds; left > 0; left--) {
        nowMs += 1_000;
        for (const { ms, work } of ticks) if (nowMs % ms === 0) work();
      }
    },
    written: () => written,
    /** What the terminal's line shows now. */
    line: () => written.split(ERASE).at(-1),
    lines: () => written.split('\n').slice(0, -1),
    ticking: () => ticks.size,
  };
}

describe('on a terminal', () => {
  test.each([
    [40, 'sending ████░░░░░░░ 6000/15000 18s left'],
    [80, 'sending      ████████████░░░░░░░░░░░░░░░░░░ 6000/15000 500/s 18s left'],
    [24, 'sending 6000/15000'],
    [12, 'sending'],
  ])('of %i columns it is one line that does not fill it', (columns, shown) => {
    const { progress, pass, line } = terminal({ columns });
    progress.show('sending', 0, 15_000);
    pass(11);
    progress.show('sending', 6_000, 15_000);
    pass(1);
    expect(line()?.length).toBeLessThan(columns);
    expect(line()).toBe(shown);
  });

  test('it is drawn at most ten times a second, and at the beginning and end of a phase', () => {
    const { progress, written, line } = terminal({ columns: 80 });
    for (let done = 0; done <= 1_000; done++) progress.show('sending', done, 1_000);
    expect(written().split(ERASE)).toHaveLength(3);
    expect(line()).toContain('1000/1000');
    progress.show('counting', 1, 20);
    expect(line()).toMatch(/^counting {5}░{30} 1\/20$/);
  });

  test('without a total it tells the elapsed time and no share', () => {
    const { progress, pass, line, written } = terminal({ columns: 80 });
    progress.show('restoring');
    expect(line()).toBe('restoring   ');
    pass(75);
    expect(line()).toBe('restoring    1m15s so far');
    progress.show('rewards', 4);
    pass(1);
    progress.show('rewards', 104);
    pass(1);
    expect(line()).toBe('rewards      104 50/s 2s so far');
    expect(written()).not.toMatch(/[█░%]/);
  });

  test('numbers of blocks fill it from where the reading began', () => {
    const { progress, pass, line } = terminal({ columns: 80 });
    progress.show('reading', 5_000_000, 5_000_100);
    pass(9);
    progress.show('reading', 5_000_050, 5_000_100);
    pass(1);
    expect(line()).toBe('reading      ███████████████░░░░░░░░░░░░░░░ 5000050/5000100 5.0/s 10s left');
  });

  test('lines of others go above it, and nothing of it stays at the end', () => {
    const { progress, pass, written, line, ticking } = terminal({ columns: 80 });
    progress.show('scenarios', 1, 2);
    const before = written().length;
    progress.above(() => progress.isBar);
    expect(written().slice(before)).toMatch(/^\r\u001b\[2K\r\u001b\[2Kscenarios/);
    progress.clear();
    expect([line(), ticking()]).toEqual(['', 0]);
    pass(30);
    expect(line()).toBe('');
  });
});

describe('elsewhere', () => {
  test.each([
    ['a pipe', {}],
    ['a terminal of CI', { columns: 80, env: { CI: 'true' } }],
    ['a dumb terminal', { columns: 80, env: { TERM: 'dumb' } }],
  ])('%s gets a line every ten seconds, the first after ten', (_what, kind) => {
    const { progress, pass, lines, written } = terminal(kind);
    progress.show('sending', 0, 15_000);
    pass(9);
    progress.show('sending', 4_500, 15_000);
    expect(written()).toBe('');
    pass(1);
    progress.show('sending', 5_000, 15_000);
    pass(10);
    progress.show('restoring');
    pass(10);
    progress.clear();
    pass(60);
    expect(lines()).toEqual([
      'sending: 4500/15000 (30 %), 450/s, 24s left',
      'sending: 5000/15000 (33 %), 250/s, 40s left',
      'restoring: 10s so far',
    ]);
    expect(written()).not.toContain('\u001b');
  });

  test('--quiet tells nothing, on a terminal or not', () => {
    for (const columns of [undefined, 80]) {
      const { progress, pass, written } = terminal({ quiet: true, ...(columns && { columns }) });
      progress.show('sending', 0, 10);
      pass(60);
      progress.clear();
      expect(written()).toBe('');
    }
  });
});

describe('of commands', () => {
  let kit: ProductionKit;
  let ledger: string;
  let folder: string;
  beforeAll(async () => {
    kit = await startProductionKit();
    ledger = await sqliteLedger(kit.folder, 'progress');
    folder = await mkdtemp(join(tmpdir(), 'rewards-progress-'));
  });
  afterAll(async () => {
    await kit.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const env = () =>
    kit.environment(ledger, { REWARDS_ALLOW_SQLITE: 'true', CI: '', TERM: 'xterm', NO_COLOR: '1' });
  /** As a terminal shows it at the end: what was erased is gone. */
  const kept = (stderr: string) => stderr.replaceAll(/[^\n]*\r\u001b\[2K/g, '');

  test('`start` shows a bar while it reads the chain, whose log stays whole; `verify` one for each part', async () => {
    const run = startHere(['start', '-o', 'json'], { env: env(), columns: 80 });
    const first = await Promise.race([run.nextLine(), run.ended]);
    expect(JSON.parse(String(first))).toMatchObject({ type: 'ready' });
    run.signal('SIGTERM');
    expect(await run.ended).toBe(0);
    expect(run.stderr()).toMatch(/reading {6}[█░]+ \d+\/\d+/);
    for (const line of kept(run.stderr()).split('\n').filter(Boolean)) expect(JSON.parse(line)).toBeTruthy();

    const bar = await rewards(['verify'], { env: env(), columns: 80 });
    expect([bar.code, kept(bar.stderr)]).toEqual([0, '']);
    expect(bar.stderr).toMatch(/blocks {7}[█░]+ \d+\/\d+/);
    expect(bar.stdout).not.toContain('\u001b[2K');
    const piped = await rewards(['verify'], { env: env() });
    expect([piped.code, piped.stderr]).toEqual([0, '']);
  });

  test('`db migrate` counts the migrations', async () => {
    const fresh = (name: string) => ({ ...env(), REWARDS_DATABASE_URL: `sqlite:${join(folder, name)}` });
    const bar = await rewards(['db', 'migrate'], { env: fresh('one.sqlite'), columns: 80 });
    const count = bar.stdout.trim().split('\n').length;
    expect([bar.code, kept(bar.stderr)]).toEqual([0, '']);
    expect(bar.stderr).toContain(`migrations   ${'░'.repeat(30)} 0/${count}`);
    expect(bar.stderr).toContain(`migrations   ${'█'.repeat(30)} ${count}/${count}`);
    const quiet = await rewards(['db', 'migrate', '--quiet'], { env: fresh('two.sqlite'), columns: 80 });
    expect([quiet.code, quiet.stderr]).toEqual([0, '']);
  });

  test('`scenario run` counts the files, above which each is printed as it ends', async () => {
    const file = new URL('../../scenarios/max-claims.yaml', import.meta.url).pathname;
    const terminal = { CI: '', TERM: 'xterm', NO_COLOR: '1' };
    const bar = await rewards(['scenario', 'run', file], { env: terminal, columns: 40 });
    expect([bar.code, kept(bar.stderr)]).toEqual([0, '']);
    expect(bar.stderr).toMatch(/scenarios ░+ 0\/1/);
    expect(bar.stderr).toMatch(/scenarios █+ 1\/1/);
    expect(bar.stdout).not.toContain('\u001b[2K');
    const piped = await rewards(['scenario', 'run', file]);
    expect([piped.code, piped.stderr]).toEqual([0, '']);
  });
});
