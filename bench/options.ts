/** The options of a measurement: read from the command line, or listed for `--help`. */
import { type ParseArgsConfig, parseArgs } from 'node:util';

type Option = NonNullable<ParseArgsConfig['options']>[string];
type Options = Record<string, Option & { help: string }>;

/** Reads what came after `name`; with `--help` it prints what may come and ends the process. */
export function readOptions<const T extends Options>(name: string, options: T) {
  const { values } = parseArgs({
    args: process.argv.slice(2).filter((word) => word !== name),
    options: { ...options, help: { type: 'boolean' } },
  });
  if ((values as { help?: boolean }).help) {
    process.stdout.write(`${helpOf(name, options)}\n`);
    process.exit(0);
  }
  return values as ReturnType<typeof parseArgs<{ options: T }>>['values'];
}

const helpOf = (name: string, options: Options) =>
  [
    `npm run bench -- ${name}`.trimEnd(),
    ...Object.entries(options).map(([option, { type, default: value, help }]) => {
      const spelling = `--${option}${type === 'string' ? ' …' : ''}`;
      return `  ${spelling.padEnd(16)} ${help}${typeof value === 'string' ? ` (${value})` : ''}`;
    }),
  ].join('\n');
