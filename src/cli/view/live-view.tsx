/** @jsxImportSource react */
/** Draws the footer with Ink, and writes above it: the only file that knows React. */
import { Box, type Key, render, Text, useInput, useStderr, useStdout } from 'ink';
import { useLayoutEffect, useRef } from 'react';
import { turnOfEventLoop } from '../../lib/timers.ts';

/** The terminal itself: what is written here is not diverted. */
export interface TerminalStreams {
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
}

/**
 * What a key is called: `up`, `ctrl-c`, or what was typed; a text that was pasted is one. `isRepeated`: the same came just before, in
 * one breath, as of a key that is held down.
 */
export type OnInput = (name: string, isRepeated: boolean) => void;

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
  // Terminals mark what is pasted, so that it is no key.
  stdout.write(PASTES_MARKED);
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
      stdout.write(PASTES_AS_TYPED);
      // By then the stream has noticed that nobody reads it: one that goes on in the background would be stopped.
      void turnOfEventLoop().then(() => stdin.pause());
      if (erase) stdout.write(eraseUp(drawn.length));
    },
  };
}

const PASTES_MARKED = '\u001b[?2004h';
const PASTES_AS_TYPED = '\u001b[?2004l';

/** Erases so many lines above the cursor, which ends where the first of them was. */
const eraseUp = (lines: number): string => `${'\u001b[1A\u001b[2K'.repeat(lines)}\r`;

function Footer({ lines, columns, hasKeys, onInput, hold }: FooterProps) {
  const { write: stdout } = useStdout();
  const { write: stderr } = useStderr();
  useLayoutEffect(() => {
    hold({ stdout, stderr });
    return () => hold(undefined);
  }, [hold, stdout, stderr]);
  const isPasted = useRef(false);
  useInput((text, key) => hear({ text, key, isPasted }, onInput), { isActive: hasKeys });
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

interface Heard {
  text: string;
  key: Key;
  isPasted: { current: boolean };
}

/** A busy machine hears several keys at once, each of which is one; a paste is one text. */
function hear({ text, key, isPasted }: Heard, onInput: OnInput): void {
  if (text === '[200~' || text === '[201~') {
    isPasted.current = text === '[200~';
    return;
  }
  const name = nameOf(text, key);
  if (isPasted.current || name !== text || text.length === 1) {
    onInput(name, false);
    return;
  }
  // What is left of an escape sequence that means nothing here.
  if (/^[[O]/.test(text)) return;
  const names = Array.from(text, (one) => CONTROLS[one] ?? one);
  for (const [place, one] of names.entries()) onInput(one, one === names[place - 1]);
}

const CONTROLS: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\u007f': 'backspace',
  '\u0003': 'ctrl-c',
  '\u001a': 'ctrl-z',
  '\u001c': 'ctrl-\\',
};

function nameOf(text: string, key: Key): string {
  if (key.upArrow) return 'up';
  if (key.downArrow) return 'down';
  if (key.return) return 'enter';
  if (key.escape) return 'escape';
  if (key.backspace || key.delete) return 'backspace';
  if (text === '\u001c') return 'ctrl-\\';
  return key.ctrl ? `ctrl-${text}` : text;
}
