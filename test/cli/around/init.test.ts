/** `rewards init`, and that what it writes works as it says. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { exitCodes } from '../../../src/cli/machine/exit-codes.ts';
import { rewards, rewardsJson, rewardsProcess, serve, temporaryDirectory } from '../../kits/service/cli.ts';

let project: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeEach(async () => {
  project = await temporaryDirectory();
});
afterEach(() => project.remove());

const read = (file: string) => readFile(join(project.path, file), 'utf8');
const everyFile = ['rewards.yaml', 'scenarios/first.yaml', '.github/workflows/rewards.yml', '.gitignore'];

describe('rewards init', () => {
  test('in an empty folder: the brand is served, and its first scenario passes', async () => {
    const { code, stdout } = await rewardsProcess(['init'], { cwd: project.path });
    expect(code).toBe(0);
    for (const file of everyFile) expect(stdout).toContain(`written  ${file}`);
    expect(await read('.gitignore')).toBe('.rewards/\n');

    const seeded = ['--ephemeral', '--port', '0', '--seed', 'rewards.yaml'];
    const stack = await serve(seeded, { cwd: project.path });
    try {
      expect(stack.ready.brands).toMatchObject([{ domain: 'shop.example' }]);
      const args = [
        'send-event',
        'purchase',
        '--user',
        'alice@shop.example',
        '--set',
        'metadata.order_total=40',
      ];
      const bought = await rewardsJson(args, { cwd: project.path });
      expect(bought.envelope.data.body).toMatchObject({ success: true, rewardAmount: 40 });
    } finally {
      await stack.stop();
    }

    const run = await rewardsProcess(['scenario', 'run'], { cwd: project.path });
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('first.yaml') });
    expect((await rewards(['scenario', 'lint'], { cwd: project.path })).code).toBe(0);
  });

  test('the workflow runs commands that exist', async () => {
    await rewards(['init'], { cwd: project.path });
    const { jobs } = parse(await read('.github/workflows/rewards.yml'));
    const steps: { run?: string }[] = jobs.rewards.steps;
    const ours = steps.flatMap(({ run }) => /^npx rewards (.*)$/.exec(run ?? '')?.[1] ?? []);
    expect(ours).toEqual(['scenario run', 'exec --seed rewards.yaml -- npm test']);
    const exec = ['exec', '--seed', 'rewards.yaml', '--', 'sh', '-c', 'echo $REWARDS_DOMAIN'];
    expect(await rewardsProcess(exec, { cwd: project.path })).toMatchObject({
      code: 0,
      stdout: 'shop.example\n',
    });
  });

  test('never overwrites: what exists is left as it is, and named', async () => {
    await mkdir(join(project.path, 'shop'));
    await writeFile(join(project.path, 'shop/rewards.yaml'), 'mine\n');
    await writeFile(join(project.path, 'shop/.gitignore'), 'node_modules');
    const first = await rewardsJson(['init', 'shop'], { cwd: project.path });
    expect(first.envelope.data).toEqual({
      folder: join(project.path, 'shop'),
      written: ['scenarios/first.yaml', '.github/workflows/rewards.yml', '.gitignore'],
      kept: ['rewards.yaml'],
    });
    expect(await read('shop/rewards.yaml')).toBe('mine\n');
    expect(await read('shop/.gitignore')).toBe('node_modules\n.rewards/\n');
    const again = await rewards(['init', 'shop'], { cwd: project.path });
    for (const file of everyFile)
      expect(again.stdout).toMatch(new RegExp(`kept +${file.replaceAll('.', '\\.')}`));
    expect(again.stdout).toContain('cd shop && rewards serve --seed rewards.yaml');
    expect(await read('shop/.gitignore')).toBe('node_modules\n.rewards/\n');
  });

  test('a folder that cannot be one: exit 2, and why', async () => {
    await writeFile(join(project.path, 'file'), '');
    expect(await rewards(['init', 'file'], { cwd: project.path })).toMatchObject({
      code: exitCodes.usage,
      stderr: expect.stringContaining('cannot be begun'),
    });
  });
});
