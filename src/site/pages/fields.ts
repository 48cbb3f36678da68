/** Parts of forms: labelled fields that say what is wrong with them, and the hidden ones that every form has. */
import type { NonceAction } from '../accounts/users.ts';
import { type Html, html } from './html.ts';
import type { Visit } from './visit.ts';

export const guard = (visit: Visit, action: NonceAction = 'form'): Html =>
  html`<input type="hidden" name="_nonce" value="${visit.nonce(action)}">`;

interface Field {
  name: string;
  label: string;
  value?: string | undefined;
  type?: 'text' | 'email' | 'password' | 'url';
  autocomplete?: string;
  required?: boolean;
  maxLength?: number;
  /** Below the field: what to write. */
  hint?: string | Html;
  /** What is wrong with what was sent. */
  why?: string | undefined;
  placeholder?: string;
}

/** Hint and problem are read out with the field. */
export function field(one: Field): Html {
  const { name, label, value = '', type = 'text', hint, why } = one;
  const described = [hint !== undefined && `${name}-hint`, why !== undefined && `${name}-why`].filter(
    Boolean,
  );
  return html`<div class="field${why !== undefined && ' wrong'}"><label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" value="${value}" autocomplete="${one.autocomplete ?? 'off'}"${one.required && html` required`}${one.maxLength !== undefined && html` maxlength="${one.maxLength}"`}${one.placeholder !== undefined && html` placeholder="${one.placeholder}"`}${why !== undefined && html` aria-invalid="true"`}${described.length > 0 && html` aria-describedby="${described.join(' ')}"`}>
${hint !== undefined && html`<small class="dim" id="${name}-hint">${hint}</small>`}
${why !== undefined && html`<small class="why" id="${name}-why">${why}</small>`}</div>`;
}

export const area = (one: {
  name: string;
  label: string;
  value: string;
  maxLength: number;
  rows?: number;
  hint?: string | Html;
  why?: string | undefined;
}): Html => {
  const { name, hint, why } = one;
  return html`<div class="field${why !== undefined && ' wrong'}"><label for="${name}">${one.label}</label>
<textarea id="${name}" name="${name}" rows="${one.rows ?? 4}" maxlength="${one.maxLength}" required${hint !== undefined && html` aria-describedby="${name}-hint"`}>
${one.value}</textarea>
${hint !== undefined && html`<small class="dim" id="${name}-hint">${hint}</small>`}
${why !== undefined && html`<small class="why">${why}</small>`}</div>`;
};

export const select = (one: {
  name: string;
  label: string;
  value: string;
  options: Record<string, string>;
}): Html => html`<div class="field"><label for="${one.name}">${one.label}</label>${bareSelect(one)}</div>`;

/** Without a visible label: the table around it names it. */
export const bareSelect = (one: {
  name: string;
  label?: string;
  value: string;
  options: Record<string, string>;
}): Html =>
  html`<select id="${one.name}" name="${one.name}"${one.label !== undefined && html` aria-label="${one.label}"`}>${Object.entries(
    one.options,
  ).map(
    ([value, text]) =>
      html`<option value="${value}"${value === one.value && html` selected`}>${text}</option>`,
  )}</select>`;

/** The first problem of each field, in one text. */
export const whyIn = (
  problems: { field: string; message: string; fix?: string }[],
  name: string,
): string | undefined => {
  const found = problems.find((problem) => problem.field === name);
  return found && [ended(found.message), found.fix].filter(Boolean).join(' ');
};

const ended = (sentence: string) => (/[.!?]$/.test(sentence) ? sentence : `${sentence}.`);
