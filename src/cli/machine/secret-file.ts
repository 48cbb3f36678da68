/** Prints a result into a file that only its owner can read, for results that hold a secret: `--out <file>`. */
import { closeSync, fchmodSync, fsyncSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Handler } from './context.ts';
import { CliError } from './errors.ts';
import { option } from './options.ts';
import type { CommandResult } from './output.ts';

const OWNER_ALONE = 0o600;

export const outOption = () =>
  option('--out <file>', 'print it into this file, which only its owner can read, and not on stdout');

/**
 * A command whose result is printed into a file where `--out` names one. The file is opened first, since a secret that is
 * shown once must have a place before it is made: throws E_FILE when it cannot be. After a refusal the file is as it was.
 */
export const intoSecretFile =
  <Options>(run: Handler<Options>): Handler<Options & { out?: string }> =>
  async (context, options) => {
    const { out: path } = options;
    if (path === undefined) return run(context, options);
    const file = openSecretFile(resolve(context.runtime.cwd, path), path);
    let result: CommandResult | number;
    try {
      result = await run(context, options);
    } catch (error) {
      file.leave();
      throw error;
    }
    if (typeof result !== 'number' && result.ok)
      return { ...result, into: { name: path, write: file.write } };
    file.leave();
    return result;
  };

function openSecretFile(path: string, name: string) {
  let isNew = true;
  let descriptor: number;
  try {
    try {
      descriptor = openSync(path, 'wx', OWNER_ALONE);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      isNew = false;
      descriptor = openSync(path, 'r+');
    }
  } catch (cause) {
    throw unwritable(name, cause);
  }
  return {
    /** Replaces what was in it. By the time the secret is in it, only its owner can read it. */
    write(text: string) {
      try {
        fchmodSync(descriptor, OWNER_ALONE);
        ftruncateSync(descriptor);
        writeSync(descriptor, text);
        fsyncSync(descriptor);
      } catch (cause) {
        throw unwritable(name, cause);
      } finally {
        closeSync(descriptor);
      }
    },
    /** Without a result; a file that was there before keeps its contents. */
    leave() {
      closeSync(descriptor);
      if (isNew) rmSync(path, { force: true });
    },
  };
}

function unwritable(name: string, cause: unknown): CliError {
  const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
  return new CliError(
    'E_FILE',
    {
      message: `${name} cannot be written (${code}).`,
      fix: 'Check the path and its permissions, or choose another file.',
      details: { path: name, code },
    },
    { cause },
  );
}
