/** The shell blocks of a page, as the steps of somebody who follows it. */
import { execFileSync } from 'node:child_process';

export interface Step {
  /** One whole command, over several lines where quotes or a backslash say so. */
  command: string;
  /** The line of the page, from 1. */
  line: number;
  /** The page says that the answer is no, as in `# 429: …` or `# refused`. */
  isRefused: boolean;
  /** What the page shows below the command. */
  shown: { kind: 'text' | 'json'; text: string } | undefined;
}

export interface Block {
  line: number;
  /** Why nobody can run it: what stands behind `norun:`. */
  norun: string | undefined;
  steps: Step[];
}

interface Fence {
  info: string;
  line: number;
  lines: string[];
  /** Nothing but blank lines lies between the block before and this. */
  follows: boolean;
}

/** Every block that is marked as `sh`, in the order of the page; a block of output right behind one belongs to its last command. */
export function blocksOf(name: string, page: string): Block[] {
  const fences = fencesOf(page);
  return fences.flatMap((fence, place) => {
    const [language = '', ...rest] = fence.info.split(' ');
    if (language !== 'sh') return [];
    const norun = /^norun: (\S.*)$/.exec(rest.join(' '))?.[1];
    if (rest.length > 0 && norun === undefined)
      throw new Error(`${name}:${fence.line}: a block is \`sh\`, or \`sh norun: <reason>\``);
    const steps = norun === undefined ? stepsOf(name, fence) : [];
    const next = fences[place + 1];
    const last = steps.at(-1);
    if (last && next?.follows && ['', 'json'].includes(next.info) && !last.shown)
      last.shown = { kind: next.info === 'json' ? 'json' : 'text', text: next.lines.join('\n') };
    return { line: fence.line, norun, steps };
  });
}

function fencesOf(page: string): Fence[] {
  const fences: Fence[] = [];
  let open: Fence | undefined;
  let sinceLast: string[] = [];
  for (const [place, line] of page.split('\n').entries()) {
    const [, info] = /^```(.*)$/.exec(line) ?? [];
    if (open && info === '') {
      fences.push(open);
      open = undefined;
      sinceLast = [];
    } else if (open) open.lines.push(line);
    else if (info !== undefined)
      open = {
        info,
        line: place + 1,
        lines: [],
        follows: fences.length > 0 && sinceLast.every((one) => one.trim() === ''),
      };
    else sinceLast.push(line);
  }
  return fences;
}

/** With `$ ` in front of a command, the lines without it are what it prints. */
function stepsOf(name: string, { lines, line }: Fence): Step[] {
  const isTranscript = lines.some((one) => one.startsWith('$ '));
  const steps: Step[] = [];
  let unfinished: string[] = [];
  let shown: string[] = [];
  const showLast = () => {
    const last = steps.at(-1);
    if (last && shown.length > 0) last.shown = { kind: 'text', text: shown.join('\n') };
    shown = [];
  };
  for (const [place, text] of lines.entries()) {
    if (isTranscript && unfinished.length === 0 && !text.startsWith('$ ')) {
      shown.push(text);
      continue;
    }
    if (unfinished.length === 0 && /^\s*(#|$)/.test(text)) continue;
    unfinished.push(isTranscript ? text.replace(/^\$ /, '') : text);
    const command = unfinished.join('\n');
    if (!isWhole(command)) continue;
    showLast();
    steps.push({
      command,
      line: line + 1 + place - (unfinished.length - 1),
      isRefused: /\s# (?:4\d\d\b|refused\b)/.test(text),
      shown: undefined,
    });
    unfinished = [];
  }
  if (unfinished.length > 0) throw new Error(`${name}:${line}: a command of this block does not end`);
  showLast();
  return steps;
}

/** Whether the shell would run it, or wait for more. */
function isWhole(command: string): boolean {
  if (/\\$/.test(command)) return false;
  try {
    execFileSync('bash', ['-n', '-c', command], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
