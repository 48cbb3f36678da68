/** Hints name the program as the user has called it: `npx rewards` where the shell does not find `rewards`. */

import { delimiter, dirname } from 'node:path';
import type { Environment } from '../../compose/env.ts';

/** `npx rewards` under npx, and where the program's folder is not on the path of the shell. */
export function typedProgram(env: Environment, script: string): string {
  if (env.npm_command === 'exec') return 'npx rewards';
  const isLinked = /[\\/]rewards$/.test(script);
  const isOnPath = (env.PATH ?? '').split(delimiter).includes(dirname(script));
  return isLinked && !isOnPath ? 'npx rewards' : 'rewards';
}

/**
 * A command in a hint: the program's name before one of its commands or its options, never within a word or an address,
 * and not where it is written out already, on the line before perhaps.
 */
const commandIn = (commands: readonly string[]) =>
  new RegExp(
    `(?<!npx\\s*)(^|[\\s\`(])rewards (?=(?:${commands.join('|')})\\b|\\[options\\]|<command>)`,
    'gm',
  );

/** Returns a function that writes the commands in a text as they are typed here. */
export function asTyped(program: string, commands: readonly string[]): (text: string) => string {
  if (program === 'rewards') return (text) => text;
  const pattern = commandIn(commands);
  return (text) => text.replace(pattern, (_, before: string) => `${before}${program} `);
}
