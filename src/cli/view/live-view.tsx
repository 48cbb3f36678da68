/** @jsxImportSource react */
/** Draws the footer with Ink, and writes above it: the only file that knows React. */
import { Box, type Key, render, Text, useInput, useStderr, useStdout } from 'ink';
import { useLayoutEffect } from 'react';
import { turnOfEventLoop } from '../../lib/timers.ts';

/** The terminal itself: what is written here is not diverted. */
export interface TerminalStreams {
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
}

/** What a key is called: `up`, `ctrl-c`, or the text that was typed or pasted. */
export type OnInput = (name: string) => void;

type Above = Record<'stdout' | 'stderr', (text: string) => void>;

interface FooterProps {
  lines: readonly string[];
  columns: number;
  hasKeys: boolean;
  onInput: OnInput;
  /** Undefined when it is over. */
  hold: (above: Above | undefined) => void;
}

/** As often as a terminal's picture looks continuous. */
const FRAMES_PER_SECOND = 10;

/** Begins to draw below what stands on the terminal; `close` leaves it as it would be without the footer. */
export function mount(
  streams: TerminalStreams,
  { onInput, onFailure }: { onInput: OnInput; onFailure: (error: unknown) => void },
) {
  const { stdin, stdout } = streams;
  let above: Above | undefined;
  let drawn: readonly string[] = [];
  const hold = (writers: Above | undefined) => {
    above = writers;
  };
  const footer = (columns: number, hasKeys = true) => (
    <Footer lines={drawn} columns={columns} hasKeys={hasKeys} onInput={onInput} hold={hold} />
  );
  const screen = render(footer(1), {
    ...streams,
    exitOnCtrlC: false,
    patchConsole: false,
    maxFps: FRAMES_PER_SECOND,
  });
  screen.waitUntilExit().catch(onFailure);
  return {
    draw(lines: readonly string[], columns: number): void {
      drawn = lines;
      screen.rerender(footer(columns));
    },
    /** Whole lines, which stay. */
    above(to: keyof Above, text: string): void {
      if (above) above[to](text);
      else streams[to].write(text);
    },
    /** So many more rows belong to the footer; what has scrolled away of them cannot be erased. */
    eraseAlso: (rows: number) => void stdout.write(eraseUp(rows)),
    /** `erase`: not where another program has written below the footer meanwhile. */
    close({ erase }: { erase: boolean }): void {
      // React leaves clearing up to a later turn, but for what the render before has left to it.
      screen.rerender(footer(stdout.columns, false));
      screen.unmount();
      // By then the stream has noticed that nobody reads it: one that goes on in the background would be stopped.
      void turnOfEventLoop().then(() => stdin.pause());
      if (erase) stdout.write(eraseUp(drawn.length));
    },
  };
}

/** Erases so many lines above the cursor, which ends where the first of them was. */
const eraseUp = (lines: number): string => `${'\u001b[1A\u001b[2K'.repeat(lines)}\r`;

function Footer({ lines, columns, hasKeys, onInput, hold }: FooterProps) {
  const { write: stdout } = useStdout();
  const { write: stderr } = useStderr();
  useLayoutEffect(() => {
    hold({ stdout, stderr });
    return () => hold(undefined);
  }, [hold, stdout, stderr]);
  useInput((text, key) => onInput(nameOf(text, key)), { isActive: hasKeys });
  return (
    <Box flexDirection="column" width={columns}>
      {lines.map((line, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line of the footer is known by its place
        <Text key={place} wrap="truncate-end">
          {line === '' ? ' ' : line}
        </Text>
      ))}
    </Box>
  );
}

function nameOf(text: string, key: Key): string {
  if (key.upArrow) return 'up';
  if (key.downArrow) return 'down';
  if (key.return) return 'enter';
  if (key.escape) return 'escape';
  if (key.backspace || key.delete) return 'backspace';
  if (text === '\u001c') return 'ctrl-\\';
  return key.ctrl ? `ctrl-${text}` : text;
}
