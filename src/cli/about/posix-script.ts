/** The completion of bash and zsh: one list of candidates, and what each shell does with it. */
import type { CommandFacts, Values } from './completion.ts';

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const TAB = '\t';
/** Word and summary; the summary is for zsh. */
const row = (word: string, summary: string) => quoted(`${word}${TAB}${summary.split('\n')[0]}`);
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
          quoted(path),
          printing(commands.map(({ name, summary }) => row(name, summary))),
        ]),
    ),
    '}',
    '_rewards_options() {',
    cases(
      '"$1"',
      named
        .filter(({ options }) => options.length > 0)
        .map(({ path, options }) => [quoted(path), printing(optionRows(options))]),
    ),
    `  ${printing(optionRows(root))}`,
    '}',
    '# Prints what the option of a command takes; fails for one that takes nothing.',
    '_rewards_values() {',
    cases(
      '"$1 $2"',
      named.flatMap(({ path, options }) =>
        valued(options).map(({ names, values }): [string, string] => [
          names.map((name) => quoted(`${path} ${name}`)).join('|'),
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
          names.map((name) => quoted(`${path} ${name}`)).join('|'),
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
          repeats ? `${quoted(`${path} `)}[0-9]*` : quoted(`${path} ${index}`),
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
