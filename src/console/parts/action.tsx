/** What a visitor can do: one endpoint of the control API, with the command that does the same beside it. */
import type { Child, FC } from 'hono/jsx';
import type { ControlEndpoint } from '../../contract/control/control-endpoint.ts';
import { visibleText } from '../../lib/text/visible-text.ts';
import { useScope } from './scope.tsx';

interface ActionProps {
  endpoint: ControlEndpoint;
  /** Fills names of the endpoint's path; fields of the form fill the others. */
  path?: Readonly<Record<string, string>>;
  /** What is sent; fields of the form come on top, by their names (`detail.amount` goes inside `detail`). */
  body?: object;
  /**
   * The command that does the same. `{name}` stands for what was typed into the field of that name; ` [--name {name}]` is
   * left out where that is nothing, and repeated for each of a list.
   */
  command: string;
  label: string;
  /** It cannot be taken back: asks first, with these words. */
  confirm?: string;
  /** Where the visitor is led afterwards; `{name}` stands for a field of the answer. */
  then?: string;
  /** Shows the answer below the form instead of fetching the page again. */
  shows?: boolean;
  /** `Field`s. */
  children?: Child;
}

/** Without script it shows the command alone; in a console that only looks there is none. */
export const Action: FC<ActionProps> = ({
  endpoint,
  path,
  body,
  command,
  label,
  confirm,
  then,
  shows,
  children,
}) => {
  if (useScope().readOnly) return null;
  const filled = endpoint.path.replaceAll(/\{(\w+)\}/g, (all, name: string) =>
    path?.[name] === undefined ? all : encodeURIComponent(path[name]),
  );
  return (
    <form
      class="action"
      data-method={endpoint.method.toUpperCase()}
      data-path={filled}
      data-body={body === undefined ? undefined : JSON.stringify(body)}
      data-confirm={confirm}
      data-then={then}
      data-shows={shows ? '' : undefined}
    >
      {children}
      <p class="act">
        <button type="submit">{label}</button>
        <Command text={command} />
      </p>
      <output aria-live="polite" />
    </form>
  );
};

/** A line for a shell, with a button that copies it. */
export const Command: FC<{ text: string }> = ({ text }) => (
  <span class="command">
    <code data-command={text}>{visibleText(text)}</code>
    <button type="button" class="copy" aria-label={`Copy the command ${visibleText(text)}`}>
      Copy
    </button>
  </span>
);

interface FieldProps {
  name: string;
  label: string;
  /** How the text becomes a value of JSON; texts stay texts, and of a list commas are between them. Empty fields are left out. */
  as?: 'number' | 'json' | 'boolean' | 'list';
  value?: string | undefined;
  placeholder?: string;
  required?: boolean;
  /** A choice in place of a text. */
  options?: readonly string[];
  /** Several lines. */
  lines?: number;
  help?: string;
}

/** A field of an action or of a filter. */
export const Field: FC<FieldProps> = (props) => {
  const { name, label, as, value, placeholder, required, options, lines, help } = props;
  const shared = { name, 'data-as': as, required, placeholder };
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: one of the three controls is inside it
    <label class="field">
      <span>{label}</span>
      {options ? (
        <select {...shared}>
          {options.map((option) => (
            <option value={option} selected={option === value}>
              {option === '' ? 'any' : option}
            </option>
          ))}
        </select>
      ) : lines ? (
        <textarea {...shared} rows={lines} spellcheck={false}>
          {value ?? ''}
        </textarea>
      ) : (
        <input {...shared} value={value} autocomplete="off" spellcheck={false} />
      )}
      {help && <small class="quiet">{help}</small>}
    </label>
  );
};

/** Fields that choose what the page shows: they are in its address. */
export const Filter: FC<{ label: string; children?: Child }> = ({ label, children }) => (
  // biome-ignore lint/a11y/useSemanticElements: `search` is not known to every browser yet
  <form class="filter" method="get" role="search" aria-label={label}>
    {children}
    <button type="submit">Show</button>
  </form>
);
