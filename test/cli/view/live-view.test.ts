/** The live view as a person has it: in a terminal, with its keys, its sizes, and the shell's job control. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/cli/machine/exit-codes.ts';
import { programMissing } from '../../kits/run/programs.ts';
import { openTmux, type TmuxTerminal } from '../../kits/run/tmux.ts';
import { rewards, rewardsJson, temporaryDirectory } from '../../kits/service/cli.ts';
import { until } from '../../kits/service/clock.ts';
import { sqliteLedger } from '../../kits/service/production.ts';

const SERVE = 'rewards serve --ephemeral --port 0 --rpc-port 0';
const env = { REWARDS_NO_BROWSER: '1' };

describe.skipIf(programMissing('tmux'))('at a terminal', () => {
  let project: Awaited<ReturnType<typeof temporaryDirectory>>;
  let at: TmuxTerminal;
  beforeAll(async () => {
    project = await temporaryDirectory();
    at = openTmux({ cwd: project.path, columns: 80, rows: 24, env });
    at.type(SERVE);
    await at.shows(/^waiting/m);
  });
  afterAll(async () => {
    at.close();
    await project.remove();
  });

  const here = (...args: string[]) => rewards(args, { cwd: project.path });
  const send = (user: string) => here('send-event', 'account_creation', '--user', `${user}@demo.example`);
  /** The footer's rows on the screen, from its rule on. */
  const footer = (rows: string[]) => rows.slice(rows.findLastIndex((row) => row.startsWith('── ')));
  const isDrawn = (rows: string[]) => /^──/.test(footer(rows)[0] ?? '') && /^\? keys/.test(rows.at(-1) ?? '');

  test('the first line tells of --plain; the banner stands above, the footer below has a third of the rows', async () => {
    const rows = await at.shows(isDrawn);
    expect(footer(rows).length).toBeLessThanOrEqual(8);
    expect(footer(rows)[0]).toMatch(/^── {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}0\.0\/s {2}0 requests/);
    const all = at.everything();
    expect(all).toMatch(/live view; --plain for lines only\n *\n?rewards \d.*emulator ready/);
    expect(all.indexOf('Contracts')).toBeLessThan(all.indexOf('── '));
    expect(at.isCursorShown()).toBe(false);
  });

  test('an answer is a line above, and in the list with its reason', async () => {
    await send('alice');
    await send('alice');
    const rows = await at.shows((shown) => footer(shown).some((row) => row.includes('+100 RWT')));
    expect(footer(rows).join('\n')).toMatch(
      / 409 {2}account_creation {2}duplicate.* left {2}alice@demo\.example/,
    );
    expect(at.everything()).toMatch(/POST \/rewards-api\/manual-event +200 .*\+100 RWT/);
  });

  test('? prints each key with the command that it is', async () => {
    at.keys('?');
    await at.shows('rewards undo');
    expect(at.everything()).toMatch(
      / {2}e {2}.*send the last event again, with a new id\n? +rewards requests replay/,
    );
  });

  test('up and down choose a request; enter prints why it was answered so', async () => {
    at.keys('Down');
    at.keys('Down');
    await at.shows(/^> \d\d:\d\d:\d\d {2}200/m);
    at.keys('Up');
    await at.shows(/^> \d\d:\d\d:\d\d {2}409/m);
    at.keys('Enter');
    await at.shows('not reached: cooldown');
    expect(at.everything()).toMatch(/\$ rewards requests explain req_\w{8}\nreq_\w{8} .*409/);
  });

  test('+ moves the clock and e sends the last event again; the command stands above what it said', async () => {
    at.keys('+');
    await at.shows(/^── .*1h ahead/m);
    at.keys('e');
    await at.shows(/--new-id\nreq_\w{8} {2}POST .*sent again\n +1 {2}429/);
    // An hour before midnight the end of a day is on the way, and told.
    expect(at.everything()).toMatch(
      /\$ rewards clock advance 1h\n(.* board-end .*\n)*.*1h ahead of real time/,
    );
    await at.shows((rows) => footer(rows).some((row) => row.includes('cooldown: 22h')));
  });

  test('/ lists only what has the text in it, and esc all again', async () => {
    at.keys('/');
    at.keys('-l', 'cool');
    await at.shows('filter: cool_');
    at.keys('Enter');
    await at.shows((rows) => isDrawn(rows) && / only "cool"/.test(footer(rows)[0] ?? ''));
    await at.shows((rows) => footer(rows).every((row) => !/ {2}(200|409) {2}/.test(row)));
    at.keys('Escape');
    await at.shows((rows) => footer(rows).some((row) => / {2}409 {2}/.test(row)));
  });

  test('keys that come at once are keys, one that is held down is one, and what is pasted is none', async () => {
    const explained = () => at.everything().match(/not reached: cooldown/g)?.length ?? 0;
    const before = explained();
    at.paste('eeuq+\n');
    at.keys('/', 'd', 'u', 'p', 'Enter');
    await at.shows((rows) => isDrawn(rows) && / only "dup"/.test(footer(rows)[0] ?? ''));
    at.keys('Enter', 'Enter');
    await until('the explanation', () => explained() === before + 1);
    at.keys('Escape');
    await at.shows((rows) => isDrawn(rows) && !/ only /.test(footer(rows)[0] ?? ''));
    at.keys('/');
    await at.shows('filter: _');
    at.paste('pasted');
    await at.shows('filter: pasted_');
    at.keys('Escape');
    await at.shows(isDrawn);
    expect(at.everything()).not.toContain('$ rewards undo');
    expect(explained()).toBe(before + 1);
  });

  test.each([
    { columns: 40, rows: 24, lines: 8 },
    { columns: 200, rows: 30, lines: 7 },
    { columns: 80, rows: 24, lines: 8 },
    { columns: 80, rows: 10, lines: 3 },
    { columns: 80, rows: 24, lines: 8 },
  ])('resized to $columns x $rows there is one footer, of $lines lines', async ({ lines, ...size }) => {
    at.resize(size);
    const rows = await at.shows(
      (shown) =>
        isDrawn(shown) &&
        footer(shown).length === lines &&
        footer(shown)[0]?.length === Math.min(size.columns, 80) - 1 &&
        shown.filter((row) => row.startsWith('──')).length === 1,
    );
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(size.columns);
  });

  test('a flood of lines goes above the footer, and none of them is lost', async () => {
    const url = JSON.parse((await here('env', '--format', 'json')).stdout).REWARDS_EVENT_HANDLER_URL;
    await Promise.all(Array.from({ length: 300 }, () => fetch(`${url}/rewards-api/flood`)));
    const flooded = () => at.everything().match(/GET \/rewards-api\/flood +404/g)?.length;
    await until('every line', () => flooded() === 300);
    await at.shows(isDrawn);
    expect(at.everything().match(/^──/gm)).toHaveLength(1);
  });

  test('q asks while something waits; another key takes it back, and so does its end', async () => {
    await here('faults', 'set', 'node=away');
    const paid = send('carol');
    await at.shows(/^waiting {2}1 payouts/m);
    at.keys('q');
    await at.shows(/^1 payouts.* under way: q once more stops/m);
    at.keys('Down');
    await at.shows(isDrawn);
    at.keys('q');
    await at.shows(/q once more stops/);
    await here('faults', 'clear');
    await paid;
    await at.shows(isDrawn);
    await at.shows(/^waiting {2}nothing/m);
  });

  test('Ctrl-Z gives the terminal back, and fg takes it again', async () => {
    at.keys('C-z');
    await at.shows(/Stopped/);
    await at.shows((rows) => /^shell\$/.test(rows.at(-1) ?? ''));
    expect(at.isCursorShown()).toBe(true);
    at.type('stty -a | grep -o "[-]\\?icanon"');
    await at.shows(/^icanon$/m);
    at.type('fg');
    await at.shows(isDrawn);
    at.keys('g');
    await at.shows(/advance --until next\n/);
  });

  test('in the background it only prints lines, and is not stopped by what the shell reads', async () => {
    at.keys('C-z');
    await at.shows((rows) => /^shell\$/.test(rows.at(-1) ?? ''));
    at.type('bg');
    await send('bob');
    await at.shows(/bob@demo\.example.*\+100 RWT/s);
    at.type('jobs');
    await at.shows(/Running .*serve/);
    at.type('fg');
    await at.shows(isDrawn);
  });

  test('top in another terminal is the same view of it, whose q ends nothing else', async () => {
    const other = openTmux({ cwd: `${project.path}`, columns: 80, rows: 24, env, name: 'other' });
    other.type('clear; rewards top; echo code $?');
    const rows = await other.shows(isDrawn);
    expect(footer(rows).join('\n')).toContain('bob@demo.example');
    other.keys('s');
    await other.shows(/rewards snapshot save\nsaved {2}snapshot-1/);
    other.keys('q');
    await other.shows('code 0');
    expect(other.isCursorShown()).toBe(true);
    other.close();
    expect((await here('status')).code).toBe(exitCodes.done);
  });

  test('top on a ledger without a service only reads: no key of it changes anything', async () => {
    const url = await sqliteLedger(project.path, 'production');
    const other = openTmux({ cwd: project.path, columns: 100, rows: 24, env, name: 'ledger' });
    other.type(`clear; rewards top --database-url ${url} --allow-sqlite; echo code $?`);
    await other.shows(isDrawn);
    const keys = other.screen().at(-1) ?? '';
    expect(keys).toMatch(/enter why.*\/ filter/);
    expect(keys).not.toMatch(/pay|undo|hour|snapshot/);
    other.keys('u', 'q');
    await other.shows('code 0');
    other.close();
  });

  test('in a pipe top prints once, as ever', async () => {
    const { code, stdout } = await here('top');
    expect(code).toBe(exitCodes.done);
    expect(stdout).toMatch(/^clock .*\nrequests .*\nwaiting /);
  });

  test('p pays the open checkout, w delivers its webhook again, u takes back the last change, g goes on', async () => {
    at.keys('p');
    await at.shows('No checkout is open.');
    await here('checkout', 'create', '--amount', '500', '--user', 'buyer@demo.example');
    at.keys('p');
    await at.shows(/\$ rewards checkout pay\s+cs_test_/);
    await at.shows(/paid {2}buyer@demo\.example/);
    at.keys('w');
    await at.shows(/\$ rewards webhooks deliveries replay latest\n/);
    at.keys('u');
    await at.shows(/\$ rewards undo\ntook back/);
    at.keys('g');
    await at.shows(/\$ rewards clock advance --until next\n/);
  });

  test('q stops the stack, and leaves the terminal as it was, with everything that was written', async () => {
    // What was done before it is over.
    await at.shows(isDrawn);
    at.keys('q');
    await at.shows((rows) => /^shell\$/.test(rows.at(-1) ?? ''));
    expect(at.isCursorShown()).toBe(true);
    expect(at.everything()).toContain('stopping; a second signal stops at once');
    expect(at.screen().filter((row) => /^──|^\? keys/.test(row))).toEqual([]);
    at.type('stty -a | grep -o "[-]\\?icanon"; echo left');
    await at.shows(/^icanon\nleft/m);
  });

  test('a crash gives the terminal back as well, with the last that was written', async () => {
    const crash = `process.on('SIGUSR2', () => setTimeout(() => {
      process.stdout.write('half a line');
      throw new Error('planted');
    }));`;
    await writeFile(join(project.path, 'crash.cjs'), crash);
    at.type(`clear; NODE_OPTIONS='--require ./crash.cjs' ${SERVE}`);
    await at.shows(/^waiting/m);
    at.keys('?');
    const { envelope } = await rewardsJson(['status'], { cwd: project.path });
    process.kill(envelope.data.stack.pid, 'SIGUSR2');
    await at.shows(/half a line[\s\S]*Error: planted/);
    await at.shows((rows) => /^shell\$/.test(rows.at(-1) ?? ''));
    expect(at.everything()).toContain('down   choose the request below');
    expect(at.isCursorShown()).toBe(true);
    expect(at.screen().filter((row) => /^──|^\? keys/.test(row))).toEqual([]);
  });
});
