/** Reads the log file of a stack: its end, and what comes after it. */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { earlierLogFileIn, logFileIn } from '../../stack/log-file.ts';

const linesIn = async (path: string) =>
  (await readFile(path, 'utf8').catch(() => '')).split('\n').slice(0, -1);

/** The last `count` lines, the oldest first; a file that has just begun is filled up from the one before. */
export async function lastLines(dataDir: string, count: number): Promise<string[]> {
  if (count === 0) return [];
  const lines = await linesIn(logFileIn(dataDir));
  if (lines.length >= count) return lines.slice(-count);
  return [...(await linesIn(earlierLogFileIn(dataDir))), ...lines].slice(-count);
}

/** The lines that are written from now on, also into the file that takes this one's place when it is full. */
export function followLog(dataDir: string) {
  const path = logFileIn(dataDir);
  const open = (at: number | undefined) => {
    const descriptor = openSync(path, 'r');
    const { ino, size } = fstatSync(descriptor);
    return { descriptor, ino, at: at ?? size, decoder: new StringDecoder('utf8'), rest: '' };
  };
  let file = open(undefined);

  const rest = (): string[] => {
    const { size } = fstatSync(file.descriptor);
    const bytes = Buffer.alloc(Math.max(0, size - file.at));
    file.at += readSync(file.descriptor, bytes, 0, bytes.length, file.at);
    const lines = (file.rest + file.decoder.write(bytes)).split('\n');
    file.rest = lines.pop() ?? '';
    return lines;
  };
  const hasMoved = () => {
    try {
      return statSync(path).ino !== file.ino;
    } catch {
      // An ephemeral stack has taken it away; what was written can still be read.
      return false;
    }
  };
  return {
    more(): string[] {
      const moved = hasMoved();
      const lines = rest();
      if (!moved) return lines;
      closeSync(file.descriptor);
      file = open(0);
      return [...lines, ...rest()];
    },
    close: () => closeSync(file.descriptor),
  };
}
