/** The frame of the site's own pages: head, foot, posts, shop, forms. */

export const pageStyle = `
.skip { position: absolute; left: var(--s4); top: -4rem; z-index: 1; }
.skip:focus { top: var(--s2); }
.wide { width: min(66rem, 100% - 2rem); margin-inline: auto; }
.site-head { border-bottom: 1px solid var(--line); background: var(--card); }
.site-head > div { display: flex; flex-wrap: wrap; align-items: center; gap: var(--s2) var(--s5); padding: var(--s3) 0; }
.brand { display: flex; align-items: center; gap: var(--s2); font-weight: 700; letter-spacing: -.02em; font-size: 1.1rem;
  color: inherit; text-decoration: none; }
.brand:hover { color: inherit; }
.brand svg { width: 1.75rem; height: 1.75rem; color: var(--accent); }
.site-head nav { display: flex; flex-wrap: wrap; gap: 0 var(--s4); flex: 1 1 26rem; }
.site-head nav ul, .site-foot ul { display: flex; flex-wrap: wrap; gap: 0 var(--s4); margin: 0; padding: 0; list-style: none; }
.site-head nav .account { margin-left: auto; align-items: center; }
@media (max-width: 40rem) { .site-head nav .account { margin-left: 0; } .brand { padding-top: var(--s1); } }
.site-head nav a { display: block; padding: .4rem 0; color: var(--dim); text-decoration: none; }
.site-head nav a:hover { color: var(--text); text-decoration: underline; }
.site-head nav a[aria-current] { color: var(--text); font-weight: 600; box-shadow: 0 2px var(--accent); }
main { flex: 1; padding: var(--s6) 0 var(--s8); }
.site-foot { border-top: 1px solid var(--line); color: var(--dim); font-size: .875rem; }
.site-foot > div { display: flex; flex-wrap: wrap; justify-content: space-between; gap: var(--s3) var(--s5);
  padding: var(--s5) 0 var(--s6); }
.site-foot a { color: inherit; }

.notice { margin-bottom: var(--s5); padding: var(--s3) var(--s4); border-radius: var(--round); color: var(--on-tint);
  background: var(--tint); }
.notice.bad { color: var(--bad); background: var(--bad-tint); }
.notice:empty { display: none; }
.notice ul { padding-left: 1.2rem; }

.stack > * + * { margin-top: var(--s4); }
.stack > * + h2, .stack > * + section { margin-top: var(--s7); }
.page-head { display: grid; gap: var(--s2); margin-bottom: var(--s6); max-width: 42rem; }
.lead { font-size: 1.125rem; color: var(--dim); text-wrap: pretty; }
.hero { display: grid; gap: var(--s4); justify-items: start; max-width: 44rem; margin-bottom: var(--s7); }
.hero .buttons, .buttons { display: flex; flex-wrap: wrap; gap: var(--s3); align-items: center; }
.columns { display: grid; gap: var(--s7) var(--s7); grid-template-columns: minmax(0, 1fr); }
@media (min-width: 56rem) { .columns { grid-template-columns: minmax(0, 1fr) 20rem; align-items: start; } }
.columns > aside { display: grid; gap: var(--s5); grid-template-columns: minmax(0, 1fr); }
.card { padding: var(--s5); background: var(--card); border: 1px solid var(--line); border-radius: var(--round);
  box-shadow: var(--shadow); }
.narrow { max-width: 27rem; margin-inline: auto; }

.post-list { display: grid; gap: var(--s6); padding: 0; list-style: none; }
.post-list article { display: grid; gap: var(--s2); }
.post-list h3 { font-size: 1.4rem; }
.post-list h3 a { color: inherit; text-decoration: none; }
.post-list h3 a:hover { color: var(--accent); text-decoration: underline; }
.meta { color: var(--dim); font-size: .875rem; }

.prose { font-size: 1.0625rem; line-height: 1.7; }
.prose > * + * { margin-top: 1.2em; }
.prose > h2 { margin-top: 2em; }
.prose blockquote { padding-left: var(--s4); border-left: 3px solid var(--accent); font-size: 1.2rem; color: var(--dim); }
.prose ul { padding-left: 1.25rem; }
.article { max-width: 41rem; margin-inline: auto; }
.article .page-head { margin-bottom: var(--s5); }
.share-row { margin-top: var(--s6); padding-top: var(--s4); border-top: 1px solid var(--line); }
article + section.article { margin-top: var(--s7); }
.comments { display: grid; gap: var(--s4); padding: 0; list-style: none; }
.comments li { padding: var(--s4); background: var(--card); border: 1px solid var(--line); border-radius: var(--round); }
.comments p { white-space: pre-line; }
.comments .meta { margin-bottom: var(--s1); }

.products { display: grid; gap: var(--s5); grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); padding: 0;
  list-style: none; }
.product { display: flex; flex-direction: column; gap: var(--s3); height: 100%; padding: 0; overflow: hidden; }
.product > div { display: flex; flex-direction: column; gap: var(--s2); flex: 1; padding: 0 var(--s4) var(--s4); }
.product .art { aspect-ratio: 5 / 3; width: 100%; color: var(--accent); background: var(--tint); }
.product .foot { display: flex; flex-wrap: wrap; gap: var(--s3); align-items: center; justify-content: space-between; margin-top: auto;
  padding-top: var(--s2); }
.price { font-weight: 650; font-size: 1.1rem; font-variant-numeric: tabular-nums; }
.order-form { display: flex; gap: var(--s2); align-items: stretch; }
.order-form input { width: 4.5rem; padding-block: .3rem; }

.fields { display: grid; gap: var(--s4); }
.field { display: grid; gap: var(--s1); }
.field small { line-height: 1.4; }
.check { display: flex; gap: var(--s3); align-items: center; font-weight: 450; }
.fields > button, .fields > .buttons { justify-self: start; }
.wrong input, .wrong textarea { border-color: var(--bad); }
.wrong .why { color: var(--bad); }
.scroll { overflow-x: auto; }
.secret { display: block; margin-top: var(--s2); font-size: 1.1rem; letter-spacing: .04em; user-select: all; }
.events-table td { vertical-align: middle; }
.events-table input:not([type='checkbox']), .events-table select { min-width: 11rem; }
.log { max-height: 24rem; overflow: auto; padding: var(--s4); font: .8125rem/1.6 var(--mono); background: var(--sunk);
  border-radius: 8px; list-style: none; }
.log time { color: var(--dim); }
`;
