/** The site's colours, sizes and letters, and how plain elements look. One accent colour; light and dark. */

export const themeStyle = `
:root { color-scheme: light dark;
  --text: #1f2320; --dim: #5c635e; --line: #dfe3de; --edge: #868e88; --page: #f7f8f5; --card: #ffffff; --sunk: #eff2ee;
  --accent: #14664d; --accent-over: #0d4f3b; --on-accent: #ffffff; --tint: #e2f0ea; --on-tint: #0d4f3b;
  --bad: #a3241d; --bad-tint: #fcebe9; --shadow: 0 1px 2px rgb(20 30 25 / .06), 0 4px 16px rgb(20 30 25 / .05);
  --s1: .25rem; --s2: .5rem; --s3: .75rem; --s4: 1rem; --s5: 1.5rem; --s6: 2rem; --s7: 3rem; --s8: 4.5rem;
  --round: 12px; --mono: ui-monospace, 'SF Mono', Menlo, Consolas, monospace; }
@media (prefers-color-scheme: dark) { :root {
  --text: #e8ebe8; --dim: #a3aba5; --line: #2f3632; --edge: #7b857e; --page: #121513; --card: #1a1e1b; --sunk: #222723;
  --accent: #6fd3ae; --accent-over: #93e3c5; --on-accent: #06281c; --tint: #17342a; --on-tint: #9fe6cb;
  --bad: #ff9d94; --bad-tint: #3a1917; --shadow: none; } }

*, ::before, ::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: var(--s5); }
body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; color: var(--text); background: var(--page);
  font: 1rem/1.6 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; overflow-wrap: break-word; }
h1, h2, h3 { margin: 0; line-height: 1.2; letter-spacing: -.015em; font-weight: 650; text-wrap: balance; }
h1 { font-size: clamp(1.75rem, 1.3rem + 2vw, 2.5rem); letter-spacing: -.025em; }
h2 { font-size: 1.3rem; }
h3 { font-size: 1.05rem; }
p, ul, ol, dl, blockquote, figure { margin: 0; }
a { color: var(--accent); text-underline-offset: .18em; text-decoration-thickness: 1px; }
a:hover { color: var(--accent-over); text-decoration-thickness: 2px; }
small, .dim { color: var(--dim); }
small { font-size: .875rem; }
h1, h2, h3, p, a, strong { overflow-wrap: anywhere; }
code, .mono { font-family: var(--mono); font-size: .9em; overflow-wrap: anywhere; }
hr { border: 0; border-top: 1px solid var(--line); margin: var(--s6) 0; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; border-radius: 4px; }
[tabindex='-1']:focus { outline: none; }

button, .button { display: inline-block; padding: .6rem 1.1rem; border: 1px solid transparent; border-radius: 8px; font: inherit;
  font-weight: 600; line-height: 1.3; text-align: center; text-decoration: none; color: var(--on-accent);
  background: var(--accent); cursor: pointer; transition: background-color .15s; }
button:hover, .button:hover { color: var(--on-accent); background: var(--accent-over); }
button.quiet, .button.quiet { color: var(--text); background: transparent; border-color: var(--edge); }
button.quiet:hover, .button.quiet:hover { background: var(--sunk); }
button.plain { padding: .2rem .1rem; color: var(--accent); background: none; font-weight: 500; text-decoration: underline;
  text-underline-offset: .18em; }
button[aria-busy='true'] { opacity: .65; cursor: progress; }
button[aria-disabled='true'] { color: var(--dim); background: var(--sunk); cursor: default; }

label, legend { font-weight: 550; }
input, select, textarea { width: 100%; padding: .6rem .75rem; font: inherit; color: inherit; background: var(--card);
  border: 1px solid var(--edge); border-radius: 8px; }
input[type='checkbox'] { width: 1.15rem; height: 1.15rem; margin: 0; accent-color: var(--accent); flex: none; }
input[type='number'] { font-variant-numeric: tabular-nums; }
textarea { min-height: 7rem; resize: vertical; }
fieldset { margin: 0; padding: 0; border: 0; min-width: 0; }
legend { padding: 0; }

table { width: 100%; border-collapse: collapse; }
th { text-align: left; font-size: .875rem; font-weight: 550; color: var(--dim); }
th, td { padding: var(--s2) var(--s3) var(--s2) 0; border-bottom: 1px solid var(--line); vertical-align: baseline; }
th:last-child, td:last-child { padding-right: 0; }
tbody tr:last-child td { border-bottom: 0; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
progress { display: block; width: 100%; height: .5rem; border: 0; border-radius: 99px; overflow: hidden; appearance: none;
  background: var(--sunk); accent-color: var(--accent); }
progress::-webkit-progress-bar { background: var(--sunk); }
progress::-webkit-progress-value { background: var(--accent); border-radius: 99px; }
progress::-moz-progress-bar { background: var(--accent); border-radius: 99px; }
dialog { width: min(26rem, calc(100vw - 2rem)); padding: var(--s5); color: inherit; background: var(--card);
  border: 1px solid var(--line); border-radius: var(--round); box-shadow: 0 12px 48px rgb(0 0 0 / .25); }
dialog::backdrop { background: rgb(10 15 12 / .55); }
.hidden { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }
@media (prefers-reduced-motion: reduce) { *, ::before, ::after { transition: none !important; animation: none !important; } }
`;
