/** The completion of fish. */
import type { CommandFacts, Values } from './completion.ts';

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** `-a` for values; without files unless they are files. */
function taking(values: Values): string {
  if (values === 'files') return '-rF';
  if (values === 'unknown') return '-x';
  if ('words' in values) return `-x -a ${quoted(values.words.join(' '))}`;
  return `-x -a ${quoted(`(command rewards completion values ${values.kind} 2>/dev/null)`)}`;
}

function optionLine(
  path: string | undefined,
  { names, summary, values }: CommandFacts['options'][number],
): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const where = path === undefined ? [] : [`-n ${quoted(`__rewards_at ${path}`)}`];
  const takes = values ? [taking(values)] : [];
  return [
    'complete -c rewards',
    ...where,
    ...flags,
    ...takes,
    `-d ${quoted(summary.split('\n')[0] ?? '')}`,
  ].join(' ');
}

function linesOf({ path, commands, options, arguments: args }: CommandFacts): string[] {
  const at = (more: string) => `complete -c rewards -n ${quoted(`__rewards_at ${path}`)} ${more}`;
  return [
    ...commands.map(({ name, summary }) => at(`-f -a ${name} -d ${quoted(summary)}`)),
    // The program's own options may stand anywhere.
    ...options.map((option) => optionLine(path === '' ? undefined : path, option)),
    // Fish does not count arguments: all that a command takes is offered in each place.
    ...args.flatMap(({ values }) =>
      values === 'unknown' ? [] : [at(values === 'files' ? '-F' : taking(values).replace('-x', '-f'))],
    ),
  ];
}

export function fishScript(catalogue: readonly CommandFacts[]): string {
  const paths = catalogue.flatMap(({ path }) => (path === '' ? [] : [quoted(path)]));
  const valued = catalogue.flatMap(({ path, options }) =>
    options.flatMap(({ names, values }) => (values ? names.map((name) => quoted(`${path} ${name}`)) : [])),
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
