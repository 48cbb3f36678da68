/** Texts, ids and amounts as pages show them. */
import type { FC } from 'hono/jsx';
import { visibleText } from '../../lib/text/visible-text.ts';
import { PageLink } from './scope.tsx';

/** What a stranger wrote: markup is text, and what is invisible or reorders the line is written out. */
export const Text: FC<{ of: string | number | null | undefined }> = ({ of }) => (
  <bdi>{of === null || of === undefined || of === '' ? '–' : visibleText(String(of))}</bdi>
);

/** An address, hash or id: shortened for the eye, whole for the pointer, screen readers and the clipboard. */
export const Id: FC<{ of: string | null | undefined; href?: string }> = ({ of, href }) => {
  if (!of) return <span>–</span>;
  const whole = visibleText(of);
  const short = whole.length > 18 ? `${whole.slice(0, 10)}…${whole.slice(-4)}` : whole;
  const code = <code title={whole}>{short}</code>;
  return href ? <PageLink to={href}>{code}</PageLink> : code;
};

/** A text of several lines, such as a body; JSON is indented, but for an `exact` one. */
export const Body: FC<{ of: string | null | undefined; label: string; exact?: boolean }> = ({
  of,
  label,
  exact,
}) =>
  of === null || of === undefined || of === '' ? (
    <p class="quiet">none</p>
  ) : (
    // It scrolls within itself, so the keyboard has to reach it.
    <section class="body" tabindex={0} aria-label={label}>
      <pre>{visibleText(exact ? of : indented(of))}</pre>
    </section>
  );

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** A word for a state with a sign, so that colour is never the only one. */
export const State: FC<{ is: 'good' | 'bad' | 'waiting' | 'plain'; children?: unknown }> = ({
  is,
  children,
}) => <span class={`state ${is}`}>{children as string}</span>;
