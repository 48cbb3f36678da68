/** Turns the plain text of a post into HTML: paragraphs, `## headings`, `- lists`, `> quotes`. All of it is escaped. */
import { type Html, html } from './html.ts';

export const proseHtml = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .split(/\n{2,}/)
    .map((block) => block.trim())
    .filter((block) => block !== '')
    .map((block) => String(blockHtml(block)))
    .join('\n');

function blockHtml(block: string): Html {
  const lines = block.split('\n');
  const [first = ''] = lines;
  if (first.startsWith('## ') && lines.length === 1) return html`<h2>${first.slice(3)}</h2>`;
  if (lines.every((line) => line.startsWith('- ')))
    return html`<ul>${lines.map((line) => html`<li>${line.slice(2)}</li>`)}</ul>`;
  if (lines.every((line) => line.startsWith('>')))
    return html`<blockquote><p>${lines.map((line) => line.slice(1).trim()).join(' ')}</p></blockquote>`;
  return html`<p>${lines.join('\n')}</p>`;
}

/** The beginning of a post in a list of posts: its first paragraph, shortened at a word. */
export function excerptOf(text: string, length = 180): string {
  const first = text
    .split(/\n{2,}/)
    .map((block) => block.trim().replace(/\s+/g, ' '))
    .find((block) => block !== '' && !/^(## |- |>|\[)/.test(block));
  if (first === undefined || first.length <= length) return first ?? '';
  return `${first.slice(0, first.lastIndexOf(' ', length))} …`;
}
