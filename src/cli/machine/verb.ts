/** Commands as rows: what each is called and takes, and the module that does it, which is loaded when the command runs. */
import { Argument, type Command, type Option } from 'commander';
import type { Handler } from './context.ts';
import type { CliError } from './errors.ts';
import { answerNegative } from './options.ts';

export interface Verb {
  /** Its line in the list of commands. */
  summary: string;
  description?: string;
  usage?: string;
  /** Its arguments: name, description, and a parser or a default. */
  takes?: readonly (Argument | Takes)[];
  options?: readonly Option[];
  /** What its help has below the options. */
  help?: string;
  /** What is said of a negative number, which looks like an option. */
  negative?: (given: string) => CliError;
  hidden?: boolean;
  /** Runs when its group is called without a verb. */
  isDefault?: boolean;
  /** Loads what the command does. */
  run?: (command: Command) => Promise<Handler<never>>;
  verbs?: Verbs;
}

/** In the order of the help. */
export type Verbs = Readonly<Record<string, Verb>>;

type Takes = readonly [name: string, what: string, parse?: string | ((text: string) => unknown)];

/** Runs the handler that `load` brings; the same for every command. */
export type Perform = <Options>(command: Command, load: () => Promise<Handler<Options>>) => Promise<void>;

type Handlers<Module> = { [Name in keyof Module]: Module[Name] extends Handler<never> ? Name : never };

/** Handlers of a module by their names; the module is loaded when one of them runs. */
export const from =
  <Module>(load: () => Promise<Module>) =>
  <Name extends Handlers<Module>[keyof Module]>(name: Name) =>
  async () =>
    (await load())[name] as Handler<never>;

/** Adds commands, with their verbs, to a parent. */
export function declareVerbs(parent: Command, verbs: Verbs, perform: Perform): void {
  for (const [name, verb] of Object.entries(verbs)) {
    const { hidden = false, isDefault = false, run } = verb;
    const command = parent.command(name, { hidden, isDefault }).summary(verb.summary);
    if (verb.description !== undefined) command.description(verb.description);
    if (verb.usage !== undefined) command.usage(verb.usage);
    for (const one of verb.takes ?? []) {
      if (one instanceof Argument) command.addArgument(one);
      else command.argument(one[0], one[1], one[2]);
    }
    for (const one of verb.options ?? []) command.addOption(one);
    if (verb.help !== undefined) command.addHelpText('after', verb.help);
    if (verb.negative) answerNegative(command, verb.negative);
    if (run) command.action(() => perform(command, () => run(command)));
    declareVerbs(command, verb.verbs ?? {}, perform);
  }
}
