/** How the page of a statement looks: on screens light or dark as the reader has it, on paper light, A4 across. */
export const pageStyle = `
:root { color-scheme: light dark; --ink: #1b2330; --soft: #5a6677; --line: #d5dbe4; --head: #eef1f6; --paper: #fff;
  --bar: #3d6fb4; --warn: #8a4b00; --warn-paper: #fff4e0; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ef; --soft: #9aa6b8; --line: #364152; --head: #232c3a; --paper: #161c26; --bar: #7aa7e6;
    --warn: #ffcf8a; --warn-paper: #3a2c14; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 90rem; color: var(--ink); background: var(--paper);
  font: 14px/1.45 system-ui, "Segoe UI", "Liberation Sans", Arial, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .25rem; }
h2 { font-size: 1.25rem; margin: 2rem 0 .25rem; padding-top: .75rem; border-top: 2px solid var(--line); }
h3 { font-size: 1rem; margin: 1.25rem 0 .4rem; }
p { margin: .25rem 0 .75rem; color: var(--soft); }
.provisional { color: var(--warn); background: var(--warn-paper); padding: .5rem .75rem; border-radius: 4px; }
dl { display: grid; grid-template-columns: max-content 1fr max-content 1fr; gap: .15rem 1rem; margin: 1rem 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
dt.whole { grid-column: 1; }
dd.whole { grid-column: 2 / -1; }
pre { margin: 0; font-size: .9em; white-space: pre-wrap; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.rows { width: 100%; font-size: 12px; }
th, td { padding: .25rem .5rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line);
  unicode-bidi: isolate; }
.long { overflow-wrap: anywhere; }
thead th { background: var(--head); vertical-align: bottom; }
tbody th { font-weight: normal; }
tr.whole th, tr.whole td { font-weight: 600; }
.number { text-align: right; white-space: nowrap; }
.time { white-space: nowrap; }
.charts { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: .5rem 0; flex: 1 1 24rem; max-width: 46rem; }
figcaption { font-weight: 600; margin-bottom: .25rem; }
svg { width: 100%; height: auto; display: block; }
svg text { font-size: 12px; fill: var(--ink); dominant-baseline: central; }
svg .label { text-anchor: end; }
svg .tick { text-anchor: middle; fill: var(--soft); font-size: 11px; }
svg .bar { fill: var(--bar); }
svg .grid { stroke: var(--line); }
svg .zero { stroke: var(--soft); }
@page { size: A4 landscape; margin: 12mm 12mm 14mm;
  @bottom-right { content: counter(page) " / " counter(pages); font: 8pt sans-serif; color: #5a6677; } }
@media print {
  body { padding: 0; max-width: none; font-size: 9.5pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .rows { font-size: 7.5pt; }
  .rows.wide { font-size: 6pt; }
  .rows.wide th, .rows.wide td { padding: .15rem .2rem; }
  .rows.broken { display: block; font-size: 6.5pt; }
  .broken thead { display: none; }
  .broken tbody { display: block; }
  .broken tr { display: block; padding: .25rem 0; border-bottom: 1px solid var(--line); line-height: 1.5; }
  .broken td { display: inline-block; max-width: 100%; padding: 0 1.2em 0 0; border: 0; white-space: normal; }
  .broken td:empty { display: none; }
  .broken td::before { color: var(--soft); unicode-bidi: isolate; }
  .scroll { overflow: visible; }
  thead { display: table-header-group; }
  tr, figure, dl { break-inside: avoid; }
  h1, h2, h3, p, thead { break-after: avoid; }
  section + section { break-before: page; }
  figure { flex: 0 1 46%; }
}
`;
