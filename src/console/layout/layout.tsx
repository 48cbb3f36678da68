/** The frame of every page: navigation, the stack's clock, and where style and script are. */
import { raw } from 'hono/html';
import type { Child, FC } from 'hono/jsx';
import { visibleText } from '../../lib/text/visible-text.ts';
import { pageAddress } from '../page.ts';

export interface Frame {
  /** In their order. */
  nav: readonly { name: string; path: string }[];
  /** The page of the navigation that this one belongs to. */
  at?: string | undefined;
  nowMs?: number | undefined;
  /** Something stands in for the page: it looks by itself whether the page is there again, without scripts too. */
  isInstead?: boolean;
  /** Addresses of the style sheet and the script. */
  assets: { style: string; script: string };
}

const LOOK_AGAIN_SECONDS = 5;

/** A whole document. */
export const Document: FC<{ title: string; frame: Frame; children?: Child }> = ({
  title,
  frame,
  children,
}) => (
  <>
    {raw('<!doctype html>')}
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${visibleText(title)} · rewards`}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={frame.assets.style} />
        <script src={frame.assets.script} defer />
        {frame.isInstead && (
          <noscript>
            <meta http-equiv="refresh" content={String(LOOK_AGAIN_SECONDS)} />
          </noscript>
        )}
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header>
          <a class="home" href={pageAddress('/')}>
            rewards
          </a>
          <Navigation frame={frame} />
          {frame.nowMs !== undefined && (
            <p class="clock" id="frame-clock" data-live="">
              <span class="quiet">clock</span>{' '}
              <time datetime={new Date(frame.nowMs).toISOString()}>
                {new Date(frame.nowMs).toISOString().slice(0, 19).replace('T', ' ')}
              </time>
            </p>
          )}
        </header>
        <main id="main" tabindex={-1} data-instead={frame.isInstead ? '' : undefined}>
          <h1>{visibleText(title)}</h1>
          {children}
        </main>
        <p id="lost" role="status" hidden>
          The stack does not answer. This page shows what it was.
        </p>
        <noscript>
          <p class="notice">
            Actions and live updates need scripts; every action has a command that does the same.
          </p>
        </noscript>
      </body>
    </html>
  </>
);

const Navigation: FC<{ frame: Frame }> = ({ frame }) => (
  <nav aria-label="Pages">
    <ul>
      {frame.nav.map(({ name, path }) => (
        <li>
          <a href={pageAddress(path)} aria-current={path === frame.at ? 'page' : undefined}>
            {name}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);
