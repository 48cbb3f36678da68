/** Environment variables in the notations of those who read them. */
import { isPlain, shellWord } from '../../lib/text/shell-quoted.ts';

type Variables = Readonly<Record<string, string>>;

const eachOf = (variables: Variables, line: (name: string, value: string) => string) =>
  Object.entries(variables)
    .map(([name, value]) => line(name, value))
    .join('\n');

/** Readers of .env files know no escapes, but three kinds of quotes. */
function dotenvQuoted(value: string): string {
  if (isPlain(value)) return value;
  const quote = ["'", '"', '`'].find((one) => !value.includes(one)) ?? "'";
  return `${quote}${value}${quote}`;
}

/** How GitHub reads a value with several lines: between two lines with a word that is not in it. */
function githubLine(name: string, value: string): string {
  if (!value.includes('\n')) return `${name}=${value}`;
  let word = 'END';
  while (value.includes(word)) word += '_';
  return `${name}<<${word}\n${value}\n${word}`;
}

export const formats = {
  dotenv: (variables: Variables) => eachOf(variables, (name, value) => `${name}=${dotenvQuoted(value)}`),
  shell: (variables: Variables) => eachOf(variables, (name, value) => `export ${name}=${shellWord(value)}`),
  json: (variables: Variables) => JSON.stringify(variables, null, 2),
  github: (variables: Variables) => eachOf(variables, githubLine),
  powershell: (variables: Variables) =>
    eachOf(variables, (name, value) => `$env:${name} = '${value.replaceAll("'", "''")}'`),
} satisfies Record<string, (variables: Variables) => string>;

export type Format = keyof typeof formats;
