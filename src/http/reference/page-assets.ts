/** Style and script of the reference page. They stand in the page itself, and its policy names them by their digests. */

/** Where requests go in the page, until its script knows where it was loaded from. */
export const ANY_ORIGIN = 'http://127.0.0.1:8787';

export const pageStyle = `
:root { color-scheme: light dark; --text: #1b2126; --dim: #5b6770; --line: #dfe4e8; --bg: #fff; --soft: #f5f7f9;
  --blue: #0b63c5; --green: #14753f; --amber: #9a5a00; --red: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e8eb; --dim: #98a4ad; --line: #2e363d; --bg: #14181b;
  --soft: #1c2226; --blue: #6cb0ff; --green: #5fcf91; --amber: #e5ad4f; --red: #ff8d85; } }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
body { margin: 0; display: grid; grid-template-columns: 16rem minmax(0, 1fr); color: var(--text); background: var(--bg);
  font: 15px/1.55 system-ui, sans-serif; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1rem; background: var(--soft);
  border-right: 1px solid var(--line); font-size: 14px; }
nav .home { font-weight: 600; color: inherit; }
nav h2 { margin: 1.4rem 0 .3rem; font-size: 12px; color: var(--dim); border: 0; padding: 0; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: block; padding: .15rem 0; color: inherit; overflow: hidden; text-overflow: ellipsis; }
nav b { display: inline-block; width: 2.9rem; font-size: 11px; }
a { color: var(--blue); text-decoration: none; }
a:hover { text-decoration: underline; }
main { padding: 2rem 3rem 6rem; max-width: 62rem; }
h1, h2, h3, p, summary, code { overflow-wrap: anywhere; }
h1 { font-size: 1.8rem; margin: 0 0 1rem; }
h2 { font-size: 1.3rem; margin: 3rem 0 .5rem; }
h3 { font-size: 1.05rem; margin: 0 0 .5rem; }
h3 code { font-size: 1rem; font-weight: 600; }
h4 { font-size: 15px; font-weight: 400; margin: 1.4rem 0 .5rem; }
section { margin-top: 2rem; padding-top: 2rem; border-top: 1px solid var(--line); }
.lead { font-size: 1.05rem; margin-top: 0; }
small { color: var(--dim); font-size: 13px; overflow-wrap: anywhere; }
b.get, b.post { text-transform: uppercase; color: var(--green); }
b.post { color: var(--blue); }
b.s2, b.s3 { color: var(--green); }
b.s4 { color: var(--amber); }
b.s5 { color: var(--red); }
code, pre { font: 13px/1.5 ui-monospace, Menlo, Consolas, monospace; }
pre { overflow-wrap: normal; }
.lead a, p a { text-decoration: underline; }
p code, td code, li code { background: var(--soft); border-radius: 4px; padding: .1em .3em; }
pre { margin: .5rem 0; padding: .8rem 1rem; background: var(--soft); border: 1px solid var(--line); border-radius: 6px;
  overflow-x: auto; }
.wide { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: left; font-weight: 500; color: var(--dim); font-size: 13px; }
th, td { padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td:first-child { white-space: nowrap; }
figure { margin: 1.2rem 0; }
figcaption { display: flex; justify-content: space-between; color: var(--dim); font-size: 14px; }
figure pre { margin-top: .3rem; }
button { font: inherit; font-size: 13px; color: var(--blue); background: none; border: 0; padding: 0; cursor: pointer; }
details { margin: .3rem 0; font-size: 14px; }
summary { cursor: pointer; }
@media (max-width: 52rem) { body { display: block; } nav { position: static; height: auto; border: 0; }
  main { padding: 1.5rem 1rem 4rem; } td:first-child { white-space: normal; } }
@media print { body { display: block; } nav, button { display: none; } }
`;

export const pageScript = `
for (const line of document.querySelectorAll('.curl')) {
  line.textContent = line.textContent.replace('${ANY_ORIGIN}', location.origin);
}
document.addEventListener('click', async ({ target }) => {
  if (target.tagName !== 'BUTTON') return;
  const line = target.closest('figure').querySelector('pre');
  try {
    await navigator.clipboard.writeText(line.textContent);
    target.textContent = 'Copied';
  } catch {
    getSelection().selectAllChildren(line);
    target.textContent = 'Selected';
  }
});
`;
