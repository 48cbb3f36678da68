/** The style of the checkout page. It stands in the page itself, and the page's policy names it by its digest. */

export const checkoutStyle = `
:root { color-scheme: light dark; --text: #1a1f24; --dim: #57626c; --line: #d5dbe0; --bg: #f4f6f8; --card: #fff;
  --soft: #f4f6f8; --action: #0b5cad; --on-action: #fff; --action-over: #094a8c; --bad: #a3201a; --bad-bg: #fdeeed;
  --good: #14693a; --focus: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --text: #e6eaed; --dim: #a0abb4; --line: #39424a; --bg: #101418;
  --card: #191f24; --soft: #12171b; --action: #7ab8ff; --on-action: #06203c; --action-over: #a4cfff; --bad: #ff9f98;
  --bad-bg: #3a1815; --good: #6fd79c; --focus: #7ab8ff; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; padding: 3rem 1rem; color: var(--text); background: var(--bg);
  font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 27rem; margin: 0 auto; padding: 2rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 12px; }
.mode { display: inline-block; margin: 0 0 1.25rem; padding: .1rem .6rem; font-size: 13px; color: var(--dim);
  border: 1px solid var(--line); border-radius: 99px; }
h1 { margin: 0; font-size: 1rem; font-weight: 500; color: var(--dim); overflow-wrap: anywhere; }
.total { margin: 0 0 1rem; font-size: 2.4rem; font-weight: 600; letter-spacing: -.02em; line-height: 1.25; }
.lines { list-style: none; margin: 0 0 1.5rem; padding: .75rem 0; border: solid var(--line); border-width: 1px 0; }
.lines li { display: flex; justify-content: space-between; gap: 1rem; padding: .25rem 0; }
.lines span { overflow-wrap: anywhere; min-width: 0; }
.lines b { font-weight: 500; white-space: nowrap; }
small { color: var(--dim); font-size: 14px; }
fieldset { margin: 0 0 1.5rem; padding: 0; border: 0; }
legend, .field { padding: 0; margin-bottom: .4rem; font-weight: 500; }
.field { display: block; }
.choice { display: flex; gap: .75rem; align-items: flex-start; padding: .7rem .9rem; border: 1px solid var(--line);
  cursor: pointer; }
.choice:first-of-type { border-radius: 8px 8px 0 0; }
.choice:last-of-type { border-radius: 0 0 8px 8px; }
.choice + .choice { border-top: 0; }
.choice:has(:checked) { background: var(--soft); }
.choice input { margin: .3rem 0 0; width: 1rem; height: 1rem; accent-color: var(--action); flex: none; }
.choice small { display: block; }
.email { width: 100%; margin-bottom: 1.5rem; padding: .65rem .8rem; font: inherit; color: inherit; background: var(--card);
  border: 1px solid var(--dim); border-radius: 8px; }
button, .go { display: block; width: 100%; padding: .8rem 1rem; font: inherit; font-weight: 600; text-align: center;
  text-decoration: none; color: var(--on-action); background: var(--action); border: 0; border-radius: 8px;
  cursor: pointer; }
button:hover, .go:hover { background: var(--action-over); }
.back { display: block; margin-top: 1rem; padding: .3rem; text-align: center; color: var(--action); }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
.problem { margin: 0 0 1.5rem; padding: .8rem 1rem; color: var(--bad); background: var(--bad-bg); border-radius: 8px; }
.done { color: var(--good); font-size: 1.5rem; font-weight: 600; margin: 0 0 .5rem; }
.over { color: var(--text); font-size: 1.5rem; font-weight: 600; margin: 0 0 .5rem; }
p { margin: 0 0 1.25rem; overflow-wrap: anywhere; }
footer { max-width: 27rem; margin: 1.25rem auto 0; font-size: 13px; color: var(--dim); text-align: center; }
@media (max-width: 30rem) { body { padding: 0; background: var(--card); } main { border: 0; padding: 1.5rem 1.25rem; }
  footer { padding: 0 1.25rem 2rem; } }
`;
