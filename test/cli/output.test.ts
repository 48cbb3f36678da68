import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { CliError, codedProblem, errorTable, problemOf } from '../../src/cli/machine/errors.ts';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { type CommandResult, envLines, exitCodeOf, render } from '../../src/cli/machine/output.ts';
import { plainStyle, shortAddress, shortHash, wantsColor } from '../../src/cli/terminal/style.ts';

const meta = { command: 'send-event', durationMs: 41, target: 'http://127.0.0.1:8787', requestId: 'req_1' };
const wish = { meta, stdoutStyle: plainStyle, stderrStyle: plainStyle } as const;
const done: CommandResult = {
  ok: true,
  data: { status: 200, headers: {}, body: { rewardAmount: 100, note: "it's" } },
  text: () => 'one line',
};
const refused: CommandResult = {
  ok: false,
  error: problemOf('E_REFUSED', { message: 'Cooldown active', details: { reason: 'cooldown' } }),
  data: { status: 429 },
};

describe('output', () => {
  test('json is one envelope on one line', () => {
    const { stdout, stderr } = render(done, { ...wish, format: 'json' });
    expect(stdout.endsWith('\n')).toBe(true);
    expect(stdout.trimEnd()).not.toContain('\n');
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({
      ok: true,
      data: { status: 200, headers: {}, body: { rewardAmount: 100, note: "it's" } },
      meta,
    });
  });

  test('a refusal has error, data and meta', () => {
    expect(JSON.parse(render(refused, { ...wish, format: 'jsonl' }).stdout)).toEqual({
      ok: false,
      error: {
        code: 'E_REFUSED',
        message: 'Cooldown active',
        hint: errorTable.E_REFUSED.fix,
        retryable: false,
        details: { reason: 'cooldown' },
      },
      data: { status: 429 },
      meta,
    });
  });

  test('text: data to stdout, failures to stderr', () => {
    expect(render(done, { ...wish, format: 'text' })).toEqual({ stdout: 'one line\n', stderr: '' });
    const { stdout, stderr } = render(refused, { ...wish, format: 'text' });
    expect(stdout).toBe('');
    expect(stderr).toBe(`error: Cooldown active  E_REFUSED\n  fix  ${errorTable.E_REFUSED.fix}\n`);
  });

  test('env: each leaf a line a shell can read', () => {
    expect(render(done, { ...wish, format: 'env' }).stdout).toBe(
      `STATUS=200\nBODY_REWARD_AMOUNT=100\nBODY_NOTE='it'\\''s'\n`,
    );
    expect(envLines({ 'x-request-id': 'a b', list: [1, null] })).toBe(
      "X_REQUEST_ID='a b'\nLIST_0=1\nLIST_1=",
    );
    // `rewardAmount` and `reward.amount` have one name; a shell would take the last.
    expect(envLines({ rewardAmount: 10, reward: { amount: 10, to: 'a' } })).toBe(
      'REWARD_AMOUNT=10\nREWARD_TO=a',
    );
  });

  test('each format leaves with the same code', () => {
    expect(exitCodeOf(done)).toBe(exitCodes.done);
    expect(exitCodeOf(refused)).toBe(exitCodes.refused);
  });
});

describe('error codes', () => {
  test.each(Object.entries(errorTable))('%s says what failed and how to fix it', (code, entry) => {
    expect(code).toMatch(/^E_[A-Z][A-Z_]+$/);
    expect(entry.message).toMatch(/^[A-Z].{10,}\.$/);
    expect(entry.fix).toMatch(/^[A-Z].{10,}\.$/);
    expect(Object.values(exitCodes)).toContain(entry.exit);
    expect(entry.exit).not.toBe(exitCodes.done);
  });

  test('of errors from below are kept, with their own advice', () => {
    const below = (code: string) => Object.assign(new Error('no port.'), { code, fix: 'Take another' });
    expect(codedProblem(below('E_PORT_TAKEN'))).toEqual({
      code: 'E_PORT_TAKEN',
      message: 'no port.',
      fix: 'Take another',
      retryable: false,
      details: null,
    });
    expect(codedProblem(below('ENOENT'))).toBeUndefined();
    expect(codedProblem(below('toString'))).toBeUndefined();
    expect(new CliError('E_TIMEOUT').problem).toMatchObject({
      retryable: true,
      fix: errorTable.E_TIMEOUT.fix,
    });
  });

  test('that any source throws are all in the table', async () => {
    const root = new URL('../../src/', import.meta.url);
    const files = (await readdir(root, { recursive: true })).filter((file) => file.endsWith('.ts'));
    const used = await Promise.all(
      files.map(
        async (file) =>
          (await readFile(new URL(file, root), 'utf8')).match(/(?<=code: ')E_[A-Z_]+(?=')/g) ?? [],
      ),
    );
    expect(Object.keys(errorTable)).toEqual(expect.arrayContaining([...new Set(used.flat())]));
  });
});

describe('colour', () => {
  const cases: (Parameters<typeof wantsColor>[0] & { colored: boolean })[] = [
    { choice: 'auto', env: {}, isTTY: true, colored: true },
    { choice: 'auto', env: {}, isTTY: false, colored: false },
    { choice: 'auto', env: { NO_COLOR: '1' }, isTTY: true, colored: false },
    { choice: 'auto', env: { TERM: 'dumb' }, isTTY: true, colored: false },
    { choice: 'auto', env: { FORCE_COLOR: '1' }, isTTY: false, colored: true },
    { choice: 'auto', env: { FORCE_COLOR: '0' }, isTTY: true, colored: false },
    { choice: 'auto', env: { FORCE_COLOR: '1', NO_COLOR: '1' }, isTTY: true, colored: false },
    { choice: 'always', env: { NO_COLOR: '1' }, isTTY: false, colored: true },
    { choice: 'never', env: { FORCE_COLOR: '1' }, isTTY: true, colored: false },
  ];
  test.each(cases)('$choice $env terminal $isTTY: $colored', ({ colored, ...given }) => {
    expect(wantsColor(given)).toBe(colored);
  });

  test('long values are shortened for people', () => {
    expect(shortAddress('0x70997970c51812dc3a010c7d01b50e0d17dc79C8')).toBe('0x7099…79C8');
    expect(shortHash(`0xa1b2${'0'.repeat(60)}`)).toBe('0xa1b2…');
  });
});
