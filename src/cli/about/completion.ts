/** `rewards completion`: the commands of the program as plain facts, and a script of them for each shell. */
import type { Argument, Command, Option } from 'commander';
import { shellQuoted } from '../../lib/text/shell-quoted.ts';
import type { CommandContext } from '../machine/context.ts';
import { exitCodes } from '../machine/exit-codes.ts';
import { type Kind, kindOfArgument, kindOfOption } from './completion-kinds.ts';

/** What can be written in a place: some words, values of the stack, files, or nothing that is known. */
export type Values = { words: readonly string[] } | { kind: Kind } | 'files' | 'unknown';

export interface CommandFacts {
  /** `clock advance`; empty for the program itself. */
  path: string;
  commands: { name: string; summary: string }[];
  options: { names: string[]; summary: string; values?: Values }[];
  arguments: { values: Values; repeats: boolean }[];
}

/** Every command that the help shows, the program first. */
function catalogueOf(program: Command): CommandFacts[] {
  return factsOf(program, '');
}

function factsOf(command: Command, path: string): CommandFacts[] {
  const help = command.createHelp();
  const visible = help.visibleCommands(command);
  const children = visible.filter((child) => command.commands.includes(child));
  const own: CommandFacts = {
    path,
    commands: visible.map((child) => ({ name: child.name(), summary: child.summary() })),
    options: help.visibleOptions(command).map(optionFacts),
    arguments: command.registeredArguments.map((argument) => argumentFacts(path, argument)),
  };
  return [own, ...children.flatMap((child) => factsOf(child, `${path} ${child.name()}`.trim()))];
}

function optionFacts(option: Option): CommandFacts['options'][number] {
  const { short, long, description, argChoices } = option;
  const names = [short, long].flatMap((name) => name ?? []);
  // A value that may be left out is never the next word.
  if (!option.required) return { names, summary: description };
  const kind = kindOfOption(long ?? '');
  const values: Values = argChoices ? { words: argChoices } : kind ? { kind } : 'files';
  return { names, summary: description, values };
}

function argumentFacts(path: string, argument: Argument): CommandFacts['arguments'][number] {
  const { argChoices, variadic } = argument;
  const kind = kindOfArgument(path, argument.name());
  const isFile = /file|dir|folder|path|command/.test(argument.name());
  const values: Values = argChoices ? { words: argChoices } : kind ? { kind } : isFile ? 'files' : 'unknown';
  return { values, repeats: variadic };
}
const TAB = '\t';

/** Word and summary; the summary is for zsh. */
const row = (word: string, summary: string) => shellQuoted(`${word}${TAB}${summary.split('\n')[0]}`);
const printing = (rows: readonly string[]) => (rows.length === 0 ? ':' : `printf '%s\\n' ${rows.join(' ')}`);

function printingValues(values: Values): string {
  if (values === 'files') return 'echo :files';
  if (values === 'unknown') return ':';
  if ('words' in values) return printing(values.words.map((word) => row(word, '')));
  return `command rewards completion values ${values.kind} 2>/dev/null`;
}

const cases = (of: string, branches: readonly [pattern: string, does: string][]) =>
  [`  case ${of} in`, ...branches.map(([pattern, does]) => `    ${pattern}) ${does} ;;`), '  esac'].join(
    '\n',
  );

/** Options of the program may stand after every command; a command's own come first. */
function functionsOf(catalogue: readonly CommandFacts[]): string {
  const root = catalogue[0]?.options ?? [];
  const named = catalogue.filter(({ path }) => path !== '');
  const valued = (options: CommandFacts['options']) =>
    options.flatMap(({ names, values }) => (values ? [{ names, values }] : []));
  const optionRows = (options: CommandFacts['options']) =>
    options.flatMap(({ names, summary }) => names.slice(-1).map((name) => row(name, summary)));
  return [
    '_rewards_commands() {',
    cases(
      '"$1"',
      catalogue
        .filter(({ commands }) => commands.length > 0)
        .map(({ path, commands }) => [
          shellQuoted(path),
          printing(commands.map(({ name, summary }) => row(name, summary))),
        ]),
    ),
    '}',
    '_rewards_options() {',
    cases(
      '"$1"',
      named
        .filter(({ options }) => options.length > 0)
        .map(({ path, options }) => [shellQuoted(path), printing(optionRows(options))]),
    ),
    `  ${printing(optionRows(root))}`,
    '}',
    '# Prints what the option of a command takes; fails for one that takes nothing.',
    '_rewards_values() {',
    cases(
      '"$1 $2"',
      named.flatMap(({ path, options }) =>
        valued(options).map(({ names, values }): [string, string] => [
          names.map((name) => shellQuoted(`${path} ${name}`)).join('|'),
          `${printingValues(values)}; return 0`,
        ]),
      ),
    ),
    cases('"$2"', [
      ...valued(root).map(({ names, values }): [string, string] => [
        names.join('|'),
        `${printingValues(values)}; return 0`,
      ]),
    ]),
    '  return 1',
    '}',
    '_rewards_takes() {',
    cases(
      '"$1 $2"',
      named.flatMap(({ path, options }) =>
        valued(options).map(({ names }): [string, string] => [
          names.map((name) => shellQuoted(`${path} ${name}`)).join('|'),
          'return 0',
        ]),
      ),
    ),
    cases(
      '"$2"',
      valued(root).map(({ names }): [string, string] => [names.join('|'), 'return 0']),
    ),
    '  return 1',
    '}',
    '# Prints what a command takes as its argument of this number.',
    '_rewards_argument() {',
    cases(
      '"$1 $2"',
      catalogue.flatMap(({ path, arguments: args }) =>
        args.map(({ values, repeats }, index): [string, string] => [
          repeats ? `${shellQuoted(`${path} `)}[0-9]*` : shellQuoted(`${path} ${index}`),
          printingValues(values),
        ]),
      ),
    ),
    '}',
  ].join('\n');
}

/** The words after `rewards` up to the cursor; prints candidates, a line each, or `:files`. */
const CANDIDATES = `
_rewards_candidates() {
  local at='' previous='' skip=0 count=0 word last
  while [ $# -gt 1 ]; do
    word=$1; shift
    if [ "$word" = '=' ]; then continue; fi
    if [ $skip = 1 ]; then skip=0; previous=''; continue; fi
    case $word in
      --) echo :files; return ;;
      -*) if _rewards_takes "$at" "$word"; then skip=1; previous=$word; fi ;;
      *)
        if [ $count = 0 ] && _rewards_commands "$at" | grep -q "^$word	"; then
          at="\${at:+$at }$word"
        else
          count=$((count + 1))
        fi ;;
    esac
  done
  last=$1
  if [ $skip = 1 ]; then _rewards_values "$at" "$previous"; return; fi
  case $last in
    -*) _rewards_options "$at" ;;
    *)
      [ $count = 0 ] && _rewards_commands "$at"
      _rewards_argument "$at" "$count" ;;
  esac
}`;

export const bashScript = (
  catalogue: readonly CommandFacts[],
) => `# Completion of rewards for bash, by \`rewards completion bash\`.
${functionsOf(catalogue)}
${CANDIDATES}

_rewards() {
  local current=\${COMP_WORDS[COMP_CWORD]} candidate
  [ "$current" = '=' ] && current=''
  COMPREPLY=()
  while IFS= read -r candidate; do
    candidate=\${candidate%%	*}
    if [ "$candidate" = ':files' ]; then
      compopt -o default 2>/dev/null
      COMPREPLY=()
      return
    fi
    [[ $candidate == "$current"* ]] && COMPREPLY+=("$candidate")
  done < <(_rewards_candidates "\${COMP_WORDS[@]:1:COMP_CWORD-1}" "$current")
}
complete -F _rewards rewards
`;

export const zshScript = (catalogue: readonly CommandFacts[]) => `#compdef rewards
# Completion of rewards for zsh, by \`rewards completion zsh\`.
${functionsOf(catalogue)}
${CANDIDATES}

_rewards() {
  local -a candidates described
  local candidate
  candidates=("\${(@f)$(_rewards_candidates "\${(@)words[2,CURRENT]}")}")
  for candidate in $candidates; do
    if [[ $candidate == :files ]]; then
      _files
      return
    fi
    described+=("\${\${candidate%%	*}//:/\\\\:}:\${candidate#*	}")
  done
  _describe -t rewards rewards described
}
if [ "$funcstack[1]" = '_rewards' ]; then _rewards "$@"; else compdef _rewards rewards; fi
`;

const fishQuoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** `-a` for values; without files unless they are files. */
function taking(values: Values): string {
  if (values === 'files') return '-rF';
  if (values === 'unknown') return '-x';
  if ('words' in values) return `-x -a ${fishQuoted(values.words.join(' '))}`;
  return `-x -a ${fishQuoted(`(command rewards completion values ${values.kind} 2>/dev/null)`)}`;
}

function optionLine(
  path: string | undefined,
  { names, summary, values }: CommandFacts['options'][number],
): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const where = path === undefined ? [] : [`-n ${fishQuoted(`__rewards_at ${path}`)}`];
  const takes = values ? [taking(values)] : [];
  return [
    'complete -c rewards',
    ...where,
    ...flags,
    ...takes,
    `-d ${fishQuoted(summary.split('\n')[0] ?? '')}`,
  ].join(' ');
}

function linesOf({ path, commands, options, arguments: args }: CommandFacts): string[] {
  const at = (more: string) => `complete -c rewards -n ${fishQuoted(`__rewards_at ${path}`)} ${more}`;
  return [
    ...commands.map(({ name, summary }) => at(`-f -a ${name} -d ${fishQuoted(summary)}`)),
    // The program's own options may stand anywhere.
    ...options.map((option) => optionLine(path === '' ? undefined : path, option)),
    // Fish does not count arguments: all that a command takes is offered in each place.
    ...args.flatMap(({ values }) =>
      values === 'unknown' ? [] : [at(values === 'files' ? '-F' : taking(values).replace('-x', '-f'))],
    ),
  ];
}

export function fishScript(catalogue: readonly CommandFacts[]): string {
  const paths = catalogue.flatMap(({ path }) => (path === '' ? [] : [fishQuoted(path)]));
  const valued = catalogue.flatMap(({ path, options }) =>
    options.flatMap(({ names, values }) =>
      values ? names.map((name) => fishQuoted(`${path} ${name}`)) : [],
    ),
  );
  return `# Completion of rewards for fish, by \`rewards completion fish\`.
set -g __rewards_paths ${paths.join(' ')}
set -g __rewards_valued ${valued.join(' ')}

# Whether the words before the cursor name this command.

function __rewards_at
    set -l words (commandline -opc)
    set -e words[1]
    set -l path
    set -l skip 0
    for word in $words
        if test $skip = 1
            set skip 0
            continue
        end
        switch $word
            case --
                return 1
            case '-*'
                if contains -- "$path $word" $__rewards_valued; or contains -- " $word" $__rewards_valued
                    set skip 1
                end
            case '*'
                if contains -- (string trim "$path $word") $__rewards_paths
                    set path (string trim "$path $word")
                end
        end
    end
    test "$path" = "$argv"
end

complete -c rewards -f
${catalogue.flatMap(linesOf).join('\n')}
`;
}

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

export async function printScript(
  { runtime, settings }: CommandContext,
  { shell, program }: { shell: keyof typeof scripts; program: Command },
) {
  const script = scripts[shell](catalogueOf(program));
  if (settings.output !== 'text') return { ok: true as const, data: { shell, script }, text: () => script };
  // Printed here, since a terminal's width must not break its lines.
  runtime.stdout.write(script);
  return exitCodes.done;
}
