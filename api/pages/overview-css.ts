/** No script, no images, no fonts: readable at 320 px, light, dark and on paper. */
export const overviewCss = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #56606b; --page: #f4f6f8; --card: #fff; --line: #dde3e8; --bar: #b3261e; --track: #e8ecf0; --accent: #0b5fae; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ecf0; --soft: #a3aeb8; --page: #12161a; --card: #1c2228; --line: #323b44; --bar: #ff8a80; --track: #2b333b; --accent: #7ab7f5; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.45 system-ui, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 20px 16px 40px; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 6px; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 26px 0 10px; }
p { margin: 0 0 8px; max-width: 46rem; } .soft, footer { color: var(--soft); font-size: .9rem; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)); gap: 10px; padding: 0; margin: 0; }
.tiles li { list-style: none; background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 12px; }
.tiles b { display: block; font-size: 1.7rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.tiles span { display: block; color: var(--soft); font-size: .88rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 12px; }
.bar { display: block; width: 100%; height: 6px; margin-top: 4px; border-radius: 3px; fill: var(--bar); forced-color-adjust: none; } .bar .track { fill: var(--track); }
.chart { display: block; width: 100%; height: auto; fill: var(--bar); forced-color-adjust: none; }
.chart text { fill: var(--soft); font-size: 12px; } .chart line { stroke: var(--line); }
.spark { display: block; width: 110px; height: 24px; fill: none; stroke: var(--bar); stroke-width: 3; forced-color-adjust: none; } .spark .track { stroke: var(--line); stroke-width: 1; }
nav, .links { display: flex; flex-wrap: wrap; gap: 4px 16px; } nav a, nav b, .links a { padding: 10px 0; }
details { margin-top: 10px; } summary { cursor: pointer; padding: 10px 0; color: var(--accent); }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 12px; position: relative; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .95rem; }
th, td { padding: 8px; text-align: right; border-top: 1px solid var(--line); white-space: nowrap; vertical-align: top; }
thead th { border-top: 0; font-weight: 600; vertical-align: bottom; white-space: normal; } thead a { display: inline-block; padding: 8px 0; }
th:first-child, td:first-child { text-align: left; white-space: normal; min-width: 8.5rem; overflow-wrap: break-word; hyphens: auto; }
tbody th { font-weight: 600; position: sticky; left: 0; background: var(--card); } thead th:first-child { position: sticky; left: 0; background: var(--card); }
td small { display: block; color: var(--soft); } th small { display: block; color: var(--soft); font-weight: 400; }
td .bar { min-width: 44px; }
footer { margin-top: 24px; }
@media (max-width: 480px) { .tiles { grid-template-columns: 1fr 1fr; } h1 { font-size: 1.35rem; } th:first-child, td:first-child { min-width: 8rem; } table { font-size: .88rem; } .chart text { font-size: 21px; } }
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #333; --page: #fff; --card: #fff; --line: #aaa; --bar: #555; --track: #eee; --accent: #000; }
  * { print-color-adjust: exact; } body { font-size: 10pt; } main { max-width: none; padding: 0; } a { text-decoration: none; }
  nav, .links, summary, .more { display: none; } .scroll { overflow: visible; border: 0; } th, td { padding: 3px 6px; } tbody th, thead th:first-child { position: static; }
  tr, .tiles li, .card { break-inside: avoid; } thead { display: table-header-group; } .tiles { grid-template-columns: repeat(6, 1fr); } .tiles b { font-size: 1.2rem; }
}
`;
