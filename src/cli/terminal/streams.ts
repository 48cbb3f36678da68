/** Output that survives a reader who leaves early, as `rewards … | head -1` does. */

export interface Sink {
  readonly isTTY: boolean;
  /** Its width in characters, where it is a terminal. */
  readonly columns: number | undefined;
  /** Whether its reader has gone. */
  readonly isClosed: boolean;
  /** Bytes that a slow reader has not read yet. */
  readonly backlogBytes: number;
  write(text: string): void;
  /** Why nothing can be written any more, such as a full disk; undefined when its reader has just gone. */
  readonly failure: NodeJS.ErrnoException | undefined;
  /** Resolves when everything written so far has left the process. */
  flushed(): Promise<void>;
}

/** Writes to `stream` until its reader closes the pipe, then discards all output. */
export function createSink(stream: NodeJS.WriteStream): Sink {
  let broken = false;
  let failure: NodeJS.ErrnoException | undefined;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') failure ??= error;
    broken = true;
  });
  return {
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.columns;
    },
    get isClosed() {
      return broken;
    },
    get failure() {
      return failure;
    },
    get backlogBytes() {
      return broken ? 0 : stream.writableLength;
    },
    write(text) {
      if (!broken && text !== '') stream.write(text);
    },
    flushed: () =>
      new Promise((resolve) => {
        if (broken) return resolve();
        stream.write('', () => resolve());
        stream.once('error', () => resolve());
      }),
  };
}
