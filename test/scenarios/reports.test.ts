/** What a run reports, in every form: where a step failed and why, in which order steps ran, and which were left out. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import { parse } from 'yaml';
import type { ScenarioReport, StepReport } from '../../src/scenario/run/report.ts';
import { type Finished, rewards, temporaryDirectory } from '../kits/service/cli.ts';

const files = {
  'fails.yaml': `version: 1
name: an event that comes twice <& "again">
tags: [bad]
vars: { password: hunter2-hunter2 }
secret: [password]
steps:
  - id: first
    event: { type: account_creation, user: alice, metadata: { note: "\${vars.password}" } }
  - event: { type: account_creation, user: alice, metadata: { note: "\${vars.password}" } }
    expect:
      status: 200
      body: { rewardAmount: 100 }
  - note: never reached
always:
  - name: after all
    note: runs even then
`,
  'passes.yaml': `version: 1
name: groups, variables and tries
matrix: { type: [form_submit, review_submission], user: [alice] }
clock: { start: 2031-05-01T00:00:00Z, frozen: true }
steps:
  - parallel:
      - event: { type: "\${matrix.type}", user: "\${matrix.user}" }
        save: { paid: body.rewardAmount }
      - clock: { advance: 2m }
        expect: { now: { $regex: ^2031-05-01T00:02 } }
  - name: the webhook of the reward comes
    inbox: { user: alice }
    eventually: 30s
    expect: { count: { $gte: 1 }, last: { signature: { valid: true } } }
  - steps:
      - event: { type: form_submit, user: "someone-\${repeat}-\${hex(4)}@demo.example" }
        expect: { body: { rewardAmount: { $in: ["\${vars.paid}", 10, 50] } } }
    repeat: 3
  - event: { type: form_submit, user: "many-\${repeat}@demo.example" }
    repeat: 6
    concurrency: 3
    expect: { split: { 200: 6 }, body: { success: true } }
  - skip: not today
    note: nothing
  - fault: { seam: node, effect: "slow:10ms" }
    expect: { seam: node }
  - fault: { clear: all }
`,
  'left-out.yaml': `version: 1
name: nothing to see
tags: [other]
steps: [{ note: hello }]
`,
};

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let finished: Finished;
let report: ScenarioReport;
const read = (name: string) => readFile(join(folder.path, name), 'utf8');

beforeAll(async () => {
  folder = await temporaryDirectory();
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text);
  const forms = ['junit', 'tap', 'json', 'html'].flatMap((form) => [`--report-${form}`, `report.${form}`]);
  finished = await rewards(['scenario', 'run', 'fails.yaml', 'passes.yaml', ...forms], { cwd: folder.path });
  report = JSON.parse(await read('report.json'));
});
afterAll(() => folder.remove());

const stepsOf = (file: string): StepReport[] =>
  report.files.find((one) => one.file === file)?.cases[0]?.steps ?? [];

test('people read the place, the line, what was expected and what came, the decision and the request', () => {
  expect(finished.code).toBe(1);
  const [, place, line, caret] = finished.stdout.split('\n').filter((one) => /fails|\|/.test(one));
  expect(finished.stdout).toMatch(
    /^FAILED {2}an event that comes twice <& "again"> {2}fails\.yaml, [\d.]+ s$/m,
  );
  expect(place).toMatch(
    /^ {2}fails\.yaml:11:15 {2}2 values are not as expected \(This event is already being processed: .+\)$/,
  );
  expect([line, caret]).toEqual(['    11 |       status: 200', '       |               ^']);
  expect(finished.stdout).toMatch(/ {4}status\n {6}expected {2}200\n {6}got {7}409\n/);
  expect(finished.stdout).toMatch(/ {4}decision {2}duplicate refused: .+/);
  expect(finished.stdout).toMatch(
    / {4}again {5}curl -X POST 'http:\/\/127\.0\.0\.1:\d+\/rewards-api\/manual-event' .*-d '\{.*account_creation/,
  );
  expect(finished.stderr).toContain('1 failed, 2 passed in ');
  expect(finished.stderr).toContain('1 of 3 scenarios failed.  E_SCENARIO_FAILED');
});

test('steps run up to the first failure, and those of always after it', () => {
  expect(stepsOf('fails.yaml').map(({ name, status }) => [name, status])).toEqual([
    ['event account_creation alice', 'passed'],
    ['event account_creation alice', 'failed'],
    ['after all', 'passed'],
  ]);
});

test('groups, repetitions, rows of the matrix and skipped steps are reported, with the time of the stack', () => {
  const cases = report.files.find(({ file }) => file === 'passes.yaml')?.cases ?? [];
  expect(cases.map(({ name, status }) => [name, status])).toEqual([
    ['groups, variables and tries (type=form_submit, user=alice)', 'passed'],
    ['groups, variables and tries (type=review_submission, user=alice)', 'passed'],
  ]);
  const steps = stepsOf('passes.yaml');
  expect(steps.map(({ kind, status, steps: inner }) => [kind, status, inner.length])).toEqual([
    ['parallel', 'passed', 2],
    ['inbox', 'passed', 0],
    ['steps', 'passed', 3],
    ['event', 'passed', 0],
    ['note', 'skipped', 0],
    ['fault', 'passed', 0],
    ['fault', 'passed', 0],
  ]);
  expect(steps[4]?.reason).toBe('not today');
  expect(steps[0]?.at).toBe('2031-05-01T00:00:00.000Z');
  expect(cases[0]?.clock?.start).toBe('2031-05-01T00:00:00.000Z');
});

test('no report shows what is secret', async () => {
  for (const form of ['junit', 'tap', 'json', 'html'])
    expect(await read(`report.${form}`)).not.toContain('hunter2');
  expect(finished.stdout + finished.stderr).not.toContain('hunter2');
  expect(finished.stdout).toContain('[secret]');
});

describe('every form is what its readers take', () => {
  test('JUnit, by its schema', async () => {
    const xml = await read('report.junit');
    const schema = await readFile(new URL('fixtures/junit.xsd', import.meta.url), 'utf8');
    const verdict = await validateXML({
      xml: [{ fileName: 'report.xml', contents: xml }],
      schema: [{ fileName: 'junit.xsd', contents: schema }],
    });
    expect(verdict.errors).toEqual([]);
    expect(xml).toContain('<testsuites name="rewards scenario" tests="3" failures="1" skipped="0"');
    expect(xml).toContain('message="fails.yaml:11:15 2 values are not as expected');
    expect(xml).toContain('<property name="clock.start" value="2031-05-01T00:00:00.000Z"/>');
  });

  test('JSON, by the published schema', async () => {
    const { stdout } = await rewards(['scenario', 'schema', '--of', 'report']);
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(JSON.parse(stdout));
    validate(report);
    expect(validate.errors).toBeNull();
    expect(validate({ ...report, files: [{ file: 1 }] })).toBe(false);
  });

  test('TAP 14: a plan at every level, and YAML that can be read', async () => {
    const tap = await read('report.tap');
    const lines = tap.split('\n');
    expect(lines.slice(0, 2)).toEqual(['TAP version 14', '1..3']);
    const top = lines.filter((line) => /^(not )?ok \d/.test(line));
    expect(top.map((line) => line.replace(/ - .*/, ''))).toEqual(['not ok 1', 'ok 2', 'ok 3']);
    for (const depth of [4, 8]) {
      const indent = ' '.repeat(depth);
      const plans = lines
        .filter((line) => line.startsWith(`${indent}1..`))
        .map((line) => Number(line.split('..')[1]));
      const results = lines.filter(
        (line) => line.startsWith(indent) && /^(not )?ok /.test(line.slice(depth)),
      );
      expect(results.length).toBe(plans.reduce((sum, one) => sum + one, 0));
    }
    expect(tap).toMatch(/ok 5 - note: nothing # SKIP not today/);
    const block = /^ {2}---\n([\s\S]*?)^ {2}\.\.\.$/m.exec(tap)?.[1] ?? '';
    expect(parse(block)).toMatchObject({
      at: 'fails.yaml:11:15',
      differences: [
        { what: 'status', expected: '200', got: '409' },
        { what: 'body.rewardAmount', expected: '100', got: 'nothing' },
      ],
    });
  });

  test('HTML: one file that loads nothing, runs nothing and says nothing unescaped', async () => {
    const html = await read('report.html');
    expect(html).not.toMatch(/<script|<link|<img|https?:\/\/(?!127\.0\.0\.1)|@import|url\(/);
    expect(html).toContain('an event that comes twice &lt;&amp; &quot;again&quot;&gt;');
    expect(html).toContain('fails.yaml:11:15  2 values are not as expected');
    expect(html).toContain('prefers-color-scheme: dark');
  });

  test('a report on standard output is all that is there', async () => {
    const { stdout, code } = await rewards(['scenario', 'run', 'left-out.yaml', '--report-tap', '-'], {
      cwd: folder.path,
    });
    expect(code).toBe(0);
    expect(stdout).toBe(
      'TAP version 14\n1..1\n# Subtest: nothing to see (left-out.yaml)\n    1..1\n    ok 1 - note: hello\nok 1 - nothing to see (left-out.yaml)\n',
    );
  });
});

test('--tag chooses files, and --bail begins no further one', async () => {
  const run = async (...args: string[]) => {
    const { stdout } = await rewards(['scenario', 'run', '.', '--report-json', '-', ...args], {
      cwd: folder.path,
    });
    return (JSON.parse(stdout) as ScenarioReport).files.map(({ file }) => file);
  };
  expect(await run('--tag', 'other')).toEqual(['left-out.yaml']);
  expect(await run('--tag', 'bad', '--tag', 'other', '--bail', '--jobs', '1')).toEqual(['fails.yaml']);
});
