/** The log of a stack, as a file in its data folder: what it logged and what it answered, a line of JSON each. */
import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Each of the two has at most this much. */
const FILE_BYTES_MAX = 10_000_000;
/** Kept until the folder is known; a start says far less. */
const EARLY_LINES_MAX = 1_000;

/** The file, and the one with what was logged before it was full. */
export const LOG_FILES = ['serve.log', 'serve.log.1'] as const;
export const logFileIn = (dataDir: string) => join(dataDir, LOG_FILES[0]);
export const earlierLogFileIn = (dataDir: string) => join(dataDir, LOG_FILES[1]);

/**
 * Lines go to the file at once, so that a kill loses none. A disk that does not take them stops the log, never the stack.
 * What is written before `open` waits for it.
 */
export function createLogFile(bytesMax = FILE_BYTES_MAX) {
  let early: string[] = [];
  let file: { descriptor: number; bytes: number; dataDir: string } | undefined;
  let broken = false;

  const openIn = (dataDir: string) => {
    const descriptor = openSync(logFileIn(dataDir), 'a', 0o600);
    file = { descriptor, bytes: fstatSync(descriptor).size, dataDir };
  };
  const append = (line: string) => {
    if (!file || broken) return;
    try {
      if (file.bytes + line.length > bytesMax) {
        const { dataDir, descriptor } = file;
        closeSync(descriptor);
        renameSync(logFileIn(dataDir), earlierLogFileIn(dataDir));
        openIn(dataDir);
      }
      file.bytes += writeSync(file.descriptor, line);
    } catch {
      broken = true;
    }
  };
  return {
    /** One line of JSON with its end. */
    write(line: string): void {
      if (file || broken) append(line);
      else if (early.length < EARLY_LINES_MAX) early.push(line);
    },
    /** The folder is there from now on; `first` is written before what waited. */
    open(dataDir: string, first: object): void {
      try {
        openIn(dataDir);
      } catch {
        broken = true;
      }
      for (const line of [`${JSON.stringify(first)}\n`, ...early]) append(line);
      early = [];
    },
  };
}
