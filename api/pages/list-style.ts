/** The list page's style: no images, no fonts, readable at 320 px, light and dark. */
export const listStyle = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6570; --page: #f4f6f8; --card: #fff; --line: #dde3e8;
  --yes: #1a7f4b; --low: #9a6700; --no: #b3261e; --queue: #7a3fc2; --nodata: #6b7680; --accent: #0b5fae; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ecf0; --soft: #a3aeb8; --page: #12161a; --card: #1c2228; --line: #323b44;
  --yes: #4cc38a; --low: #e2b203; --no: #ff8a80; --queue: #c3a6ff; --nodata: #9aa6b1; --accent: #7ab7f5; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.45 system-ui, sans-serif; }
main { max-width: 760px; margin: 0 auto; padding: 20px 16px 40px; }
h1 { font-size: 1.6rem; margin: 0 0 14px; }
form { display: flex; flex-wrap: wrap; gap: 10px; align-items: end; background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 12px; }
label { display: grid; gap: 3px; font-size: .8rem; color: var(--soft); flex: 1 1 130px; }
select, button { font: inherit; min-height: 44px; border-radius: 8px; border: 1px solid var(--line); padding: 0 10px; background: var(--page); color: var(--ink); width: 100%; }
button { flex: 1 1 100px; width: auto; background: var(--accent); color: var(--page); border-color: var(--accent); font-weight: 600; cursor: pointer; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.found { color: var(--soft); margin: 14px 2px; }
ul { list-style: none; margin: 0; padding: 0; display: grid; gap: 8px; }
li { background: var(--card); border: 1px solid var(--line); border-left: 6px solid var(--nodata); border-radius: 10px; padding: 10px 12px; }
li.yes { border-left-color: var(--yes); } li.low { border-left-color: var(--low); } li.no { border-left-color: var(--no); } li.queue { border-left-color: var(--queue); }
.top { display: flex; justify-content: space-between; gap: 12px; align-items: baseline; flex-wrap: wrap; }
h2 { font-size: 1.05rem; margin: 0; overflow-wrap: anywhere; }
.status { font-weight: 700; white-space: nowrap; }
.yes .status { color: var(--yes); } .low .status { color: var(--low); } .no .status { color: var(--no); } .queue .status { color: var(--queue); } .nodata .status { color: var(--nodata); }
p { margin: 3px 0 0; overflow-wrap: anywhere; } .addr, .age { color: var(--soft); font-size: .88rem; }
.price { white-space: nowrap; margin-right: 8px; }
.flag { color: var(--low); font-size: .9rem; }
footer { margin-top: 24px; color: var(--soft); font-size: .8rem; }
a { color: var(--accent); }
`;
