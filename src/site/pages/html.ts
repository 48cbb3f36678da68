/** HTML that escapes what it is given: text can only become markup by having been made here. */
import { html as honoHtml, raw } from 'hono/html';

/** Markup; everything else that goes into a template is text. */
export type Html = ReturnType<typeof raw>;

type Part = Html | string | number | false | null | undefined | Part[];

/** No part is a promise, so the result never is one. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  honoHtml(strings, ...parts) as Html;

/** Markup of the program's own, or that was escaped before; never a person's words. */
export const trusted = (markup: string): Html => raw(markup);

export const nothing: Html = raw('');
