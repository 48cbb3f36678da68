/** What shortcodes draw, on the site's own pages and on those of a host site. */

export const shortcodeStyle = `
.rw { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--s4); padding: var(--s5); background: var(--card); border: 1px solid var(--line);
  border-radius: var(--round); box-shadow: var(--shadow); font-size: 1rem; line-height: 1.6; }
.rw > h2, .rw > h3, .rw-title { font-size: 1.05rem; }
.rw-kind { color: var(--dim); }
.rw-note { padding: var(--s2) var(--s3); font-size: .875rem; color: var(--dim); border: 1px dashed var(--edge); border-radius: 8px; }
.rw-figure { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 var(--s2); font-size: 2.75rem; font-weight: 650;
  line-height: 1.1; letter-spacing: -.03em; font-variant-numeric: tabular-nums; }
.rw-figure small { font-size: 1rem; font-weight: 450; letter-spacing: 0; }
.rw-row { display: flex; flex-wrap: wrap; gap: var(--s3) var(--s5); align-items: center; justify-content: space-between; }
.rw-pill { display: inline-block; padding: .1rem .6rem; border-radius: 99px; font-size: .875rem; font-weight: 550;
  color: var(--on-tint); background: var(--tint); font-variant-numeric: tabular-nums; white-space: nowrap; }
.rw-days { display: grid; grid-template-columns: repeat(7, minmax(0, 1fr)); gap: var(--s2); padding: 0; list-style: none; }
.rw-days li { display: grid; place-items: center; min-height: 2.5rem; border-radius: 8px; font-size: .875rem; font-weight: 600;
  font-variant-numeric: tabular-nums; color: var(--dim); background: var(--sunk); }
.rw-days li.done { color: var(--on-accent); background: var(--accent); }
.rw-days li.next { color: var(--text); background: none; box-shadow: inset 0 0 0 2px var(--accent); }
.rw-claim { padding: var(--s3) var(--s4); border-radius: 8px; background: var(--tint); color: var(--on-tint); }
.rw-list { display: grid; gap: var(--s3); padding: 0; list-style: none; }
.rw-list li { margin: 0; }
.rw-board tr.me td { font-weight: 650; background: var(--tint); color: var(--on-tint); }
.rw-board td:first-child { width: 3rem; padding-left: var(--s2); font-variant-numeric: tabular-nums; color: var(--dim); }
.rw-board th:first-child { padding-left: var(--s2); }
.rw-board td:last-child, .rw-board th:last-child { padding-right: var(--s2); }
.rw-board td { overflow-wrap: anywhere; }
.rw-filter { display: flex; flex-wrap: wrap; gap: var(--s2); padding: 0; list-style: none; }
.rw-filter a { display: block; padding: .25rem .75rem; border: 1px solid var(--edge); border-radius: 99px; font-size: .9375rem;
  color: inherit; text-decoration: none; }
.rw-filter a:hover { background: var(--sunk); }
.rw-filter a[aria-current] { color: var(--on-accent); background: var(--accent); border-color: var(--accent); }
.rw-choose { display: flex; flex-wrap: wrap; gap: var(--s3); align-items: end; }
.rw-choose > div { flex: 1 1 9rem; display: grid; gap: var(--s1); }
.rw-perks { display: grid; gap: var(--s4); grid-template-columns: repeat(auto-fill, minmax(min(15rem, 100%), 1fr)); padding: 0;
  list-style: none; }
.rw-perk { display: flex; flex-direction: column; gap: var(--s2); height: 100%; padding: var(--s4); border: 1px solid var(--line);
  border-radius: var(--round); background: var(--card); }
.rw-perk svg { width: 2.5rem; height: 2.5rem; padding: .5rem; border-radius: 10px; color: var(--on-tint); background: var(--tint); }
.rw-perk .rw-row { margin-top: auto; padding-top: var(--s3); }
.rw-perk p { overflow-wrap: anywhere; }
.rw-cost { font-weight: 650; font-variant-numeric: tabular-nums; }
.rw-perk form, .rw-perk button { width: 100%; }
.rw-tabs { display: flex; flex-wrap: wrap; gap: 0 var(--s5); margin-bottom: var(--s5); padding: 0; list-style: none;
  border-bottom: 1px solid var(--line); }
.rw-tabs a { display: block; padding: var(--s2) 0; margin-bottom: -1px; color: var(--dim); text-decoration: none;
  border-bottom: 3px solid transparent; }
.rw-tabs a:hover { color: var(--text); border-color: var(--line); }
.rw-tabs a[aria-current] { color: var(--text); font-weight: 600; border-color: var(--accent); }
.rw-empty { padding: var(--s5) 0; text-align: center; color: var(--dim); }
.rw-empty strong { display: block; color: var(--text); font-size: 1.1rem; }
.rw-done { color: var(--on-tint); }
`;
