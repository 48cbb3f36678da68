/** `rewards init`: the first files of a project. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { packagedFixture } from '../../emulator/fixture/fixture.ts';
import type { Handler } from '../machine/context.ts';
import { CliError } from '../machine/errors.ts';

/** What is written, and the packaged file that it is a copy of. */
const FILES = {
  'rewards.yaml': 'init/brand',
  'scenarios/first.yaml': 'init/scenario',
  '.github/workflows/rewards.yml': 'init/workflow',
};
/** Run files and ledgers. */
const IGNORED = '.rewards/';

export const init: Handler<{ dir: string }> = async ({ runtime }, { dir }) => {
  const folder = resolve(runtime.cwd, dir);
  const written: string[] = [];
  const kept: string[] = [];
  try {
    for (const [file, source] of Object.entries(FILES)) {
      const isNew = await writeNew(join(folder, file), await readFile(packagedFixture(source), 'utf8'));
      (isNew ? written : kept).push(file);
    }
    ((await ignore(join(folder, '.gitignore'))) ? written : kept).push('.gitignore');
  } catch (error) {
    const { message } = error as NodeJS.ErrnoException;
    throw new CliError('E_FILE', {
      message: `The project cannot be begun in ${folder}: ${message}.`,
      fix: 'Choose a folder that you may write to: `rewards init <dir>`.',
      details: { folder, written },
    });
  }
  const there = relative(runtime.cwd, folder);
  const enter = there === '' ? '' : `cd ${there} && `;
  return {
    ok: true,
    data: { folder, written, kept },
    text: (style) =>
      [
        ...written.map((file) => `${style.green('written')}  ${file}`),
        ...kept.map((file) => `${style.dim('kept')}     ${file}  ${style.dim('it was there already')}`),
        '',
        `${style.bold('next')}     ${enter}rewards serve --seed rewards.yaml`,
        `         ${enter}rewards scenario run`,
      ].join('\n'),
  };
};

/** False when the file exists: it is left as it is. */
async function writeNew(path: string, text: string): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Adds the project's folder to what git leaves out; false when it does so already. */
async function ignore(path: string): Promise<boolean> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  if (text.split(/\r?\n/).some((line) => /^\/?\.rewards\/?$/.test(line.trim()))) return false;
  const before = text === '' || text.endsWith('\n') ? '' : '\n';
  await writeFile(path, `${before}${IGNORED}\n`, { flag: 'a' });
  return true;
}
