/** `rewards scenario lint|schema|run` on files that are wrong: what is wrong, where, and what was meant. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { rewards, rewardsJson, temporaryDirectory } from '../kits/service/cli.ts';

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  folder = await temporaryDirectory();
});
afterAll(() => folder.remove());

const head = 'version: 1\nname: a try\nsteps:\n';
async function lint(text: string): Promise<string> {
  await writeFile(join(folder.path, 'try.yaml'), text);
  const { code, stderr } = await rewards(['scenario', 'lint', 'try.yaml'], { cwd: folder.path });
  expect(code).toBe(2);
  return stderr;
}

test('a problem is told with its place, its line, a caret and what was meant', async () => {
  expect(await lint(`${head}  - event: { typ: account_creation, user: alice }\n`)).toBe(
    [
      'try.yaml:4:12  steps[0].event.type is missing: must be a text',
      '    4 |   - event: { typ: account_creation, user: alice }',
      '      |            ^',
      'try.yaml:4:14  steps[0].event.typ is unknown; did you mean type?',
      '    4 |   - event: { typ: account_creation, user: alice }',
      '      |              ^',
      'error: 2 problems in 1 file; nothing ran.  E_SCENARIO',
      '  fix  Correct the named lines; docs/scenarios.md has every step and every matcher.',
      '',
    ].join('\n'),
  );
});

describe('what is wrong', () => {
  test.each([
    ['a step that is not one', '  - evnt: { type: a }\n', 'steps[0].evnt is not a step; did you mean event?'],
    [
      'two steps in one',
      '  - event: { type: a }\n    clock: { advance: 1s }\n',
      'steps[0].clock stands beside event; a step does one thing, so make it a step of its own',
    ],
    ['a step that does nothing', '  - name: nothing\n', 'steps[0] does nothing; the steps are'],
    [
      'a word beside a step',
      '  - note: a\n    evenually: 3s\n',
      'steps[0].evenually is unknown; did you mean eventually?',
    ],
    [
      'something that a step does not see',
      '  - note: a\n    expect: { status: 200 }\n',
      'steps[0].expect.status cannot be seen; note sees nothing',
    ],
    [
      'code of a kind that is not one',
      '  - code: { of: bob, kind: explodes }\n',
      'steps[0].code.kind must be one of accepts, reverts, burns-gas, answers-rubbish, none',
    ],
    [
      'code of a kind and code of its own',
      '  - code: { of: bob, kind: reverts, bytecode: "0xfe" }\n',
      'steps[0].code takes either a `kind` or `bytecode`',
    ],
    [
      'code that is no whole bytes',
      '  - code: { of: bob, bytecode: "0xfef" }\n',
      'steps[0].code.bytecode must be 0x and an even number of hex digits',
    ],
    [
      'an operator that is not one',
      '  - event: { type: a }\n    expect: { status: { $gtee: 3 } }\n',
      'steps[0].expect.status.$gtee is not an operator; did you mean $gte?',
    ],
    [
      'a form that is not one',
      '  - event: { type: a }\n    expect: { body: { hash: { $match: hsh } } }\n',
      'steps[0].expect.body.hash.$match must be one of hash, address',
    ],
    [
      'an operator beside a field',
      '  - event: { type: a }\n    expect: { body: { $any: true, error: x } }\n',
      'steps[0].expect.body.error stands beside an operator; operators and fields do not mix',
    ],
    [
      'a duration',
      '  - clock: { advance: 5 minutes }\n',
      'steps[0].clock.advance must be a duration such as 61s',
    ],
    [
      'a variable that has no value',
      `  - event: { type: a, user: "\${vars.user}" }\n`,
      `steps[0].event.user \${vars.user} has no value: user is neither in vars nor saved before`,
    ],
    [
      'a step that comes later',
      `  - note: "\${steps.later.body}"\n  - id: later\n    note: x\n`,
      `steps[0].note \${steps.later.body} has no value: later is not the id of an earlier step`,
    ],
    ['an expression', `  - note: "\${1 + 1}"\n`, `steps[0].note \${1 + 1} is not a name such as`],
    [
      'a repetition outside of one',
      `  - note: "\${repeat}"\n`,
      `steps[0].note \${repeat} has a value only in what is repeated`,
    ],
    [
      'too many repetitions',
      '  - note: a\n    repeat: 5000\n',
      'steps[0].repeat must be at most 1000, not 5000',
    ],
    [
      'a second step of an id',
      '  - { id: a, note: x }\n  - { id: a, note: y }\n',
      'a is the id of another step',
    ],
    [
      'a step of a group',
      '  - steps: [{ nte: x }]\n',
      'steps[0].steps[0].nte is not a step; did you mean note?',
    ],
    ['YAML that is not', '  - note: [\n', 'cannot be read as YAML'],
  ])('%s', async (_, steps, problem) => {
    expect(await lint(head + steps)).toContain(problem);
  });

  test.each([
    [
      'another version',
      'version: 2\nname: a\nsteps: [{ note: x }]\n',
      'try.yaml:1:10  version must be 1, not 2',
    ],
    ['no name', 'version: 1\nsteps: [{ note: x }]\n', 'try.yaml:1:1  name is missing: must be a text'],
    [
      'a word of a file',
      'version: 1\nname: a\nstpes: []\nsteps: [{ note: x }]\n',
      'try.yaml:3:1  stpes is unknown; did you mean steps?',
    ],
    ['a secret', 'version: 1\nname: a\nsecret: [key]\nsteps: [{ note: x }]\n', 'key is not one of vars'],
  ])('%s', async (_, text, problem) => {
    expect(await lint(text)).toContain(problem);
  });
});

test('run names the same problems, and nothing runs', async () => {
  await writeFile(join(folder.path, 'try.yaml'), `${head}  - evnt: { type: a }\n`);
  const { code, stderr, stdout } = await rewards(['scenario', 'run', 'try.yaml'], { cwd: folder.path });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('try.yaml:4:5  steps[0].evnt is not a step; did you mean event?');
  expect(stderr).toContain('1 problem in 1 file; nothing ran.');
});

test('a file, a tag and a variable that do not exist', async () => {
  await writeFile(
    join(folder.path, 'good.yaml'),
    `${head.replace('steps', 'tags: [smoke]\nvars: { user: x }\nsteps')}  - note: x\n`,
  );
  const failure = async (...args: string[]) => {
    const { code, envelope } = await rewardsJson(['scenario', 'run', ...args], { cwd: folder.path });
    return [code, envelope.error.code, envelope.error.message, envelope.error.hint];
  };
  expect((await failure('none.yaml')).slice(0, 3)).toEqual([
    2,
    'E_FILE',
    'none.yaml cannot be read (ENOENT).',
  ]);
  expect(await failure('good.yaml', '--tag', 'smke')).toEqual([
    ...[2, 'E_USAGE', 'None of 1 scenarios is left.', 'The tags are smoke.'],
  ]);
  expect(await failure('good.yaml', '--var', 'usr=bob')).toEqual([
    ...[2, 'E_USAGE', 'No scenario has a variable usr.', 'Did you mean user?'],
  ]);
});

test('the published schema takes every scenario of the project, and refuses what lint refuses', async () => {
  const { stdout } = await rewards(['scenario', 'schema']);
  const schema = JSON.parse(stdout);
  const validate = new Ajv2020({ strict: false }).compile(schema);
  const root = new URL('../..', import.meta.url).pathname;
  const { envelope } = await rewardsJson(['scenario', 'lint'], { cwd: root });
  const { readFile } = await import('node:fs/promises');
  for (const { file } of envelope.data.files) {
    const valid = validate(parse(await readFile(join(root, file), 'utf8'), { stringKeys: true }));
    expect([file, valid, validate.errors?.slice(0, 2)]).toEqual([file, true, undefined]);
  }
  expect(validate({ version: 1, name: 'a', steps: [{ evnt: {} }] })).toBe(false);
  expect(validate({ version: 1, name: 'a', steps: [{ note: 'x', expect: { status: 200 } }] })).toBe(false);
});
