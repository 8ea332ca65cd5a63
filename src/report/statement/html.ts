import { hash } from "node:crypto";
import { html } from "hono/html";
import { decimalText } from "../../crm/currency.ts";
import { cellText, localTime, cellOf, currencyOf, isList, minorOf, type LocalTime } from "./cells.ts";
import {
  sumText,
  type OpenStatement,
  type PartTotals,
  type StatementTotals,
  type StatementWriter,
  type Sum,
  type Totals,
} from "./writer.ts";
import { tolerancesText } from "./tolerances.ts";
import type { Column, Part, Row, StatementHeader } from "./shape.ts";

const mostRows = 2000;
const mostCharacters = 4000;
const wideFrom = 11;
const brokenFrom = 24;
/** With more sums than this and fewer groups, the table is turned. */
const mostAcross = 10;

/** A page with each part's first rows; no script, loads nothing. Totals come first, so memory holds the whole page. */
export function htmlWriter(statement: OpenStatement): StatementWriter {
  const time = localTime(statement.header.period.zone);
  const bodies = new Map<string, Markup[]>();
  return {
    beginPart(part) {
      bodies.set(part.name, []);
      return "";
    },
    rows(part, rows) {
      const body = bodies.get(part.name);
      const left = mostRows - (body?.length ?? 0);
      body?.push(...rows.slice(0, left).map((row) => rowMarkup(part, row, time)));
      return "";
    },
    end(totals) {
      const sections = statement.shape.parts.map((part) => {
        const found = totals.get(part.name);
        return found === undefined ? "" : partSection(part, found, bodies.get(part.name) ?? []);
      });
      return `${pageBegin(statement, totals, time)}${sections.join("")}</body>\n</html>\n`;
    },
  };
}

function factsOf({ period, filters, auditHead, tolerances, ...header }: StatementHeader, time: LocalTime): Markup[] {
  const at = (instant: string | null | undefined): string | undefined => (instant ? time.text(instant) : undefined);
  const facts: [title: string, value: string | number | null | undefined][] = [
    ["Statement", header.kind],
    ["Version of its columns", header.version],
    ["Period", period.label],
    ["From", at(period.from)],
    ["Up to, not included", at(period.to)],
    ["Time zone", period.zone],
    [
      "Begins where the period closed before it ended, which had another time zone",
      period.joined === true ? "yes" : undefined,
    ],
    ["A row belongs to the period by", header.by],
    ["Only the source", filters.source],
    ["Only the customer", filters.customer],
    ["Only the branch", filters.branch],
    ["Only the product", filters.product],
    ["As of", at(header.asOf)],
    ["Provisional (period not over)", header.provisional ? "yes" : "no"],
    ["Ledger", header.ledger],
    ["Audit head: entry", auditHead?.sequence],
    ["Audit head: time", at(auditHead?.at)],
    ["Audit head: hash", auditHead?.hash],
    ["Audit tree: size", auditHead?.size],
    ["Audit tree: root", auditHead?.root],
  ];
  const known = facts.flatMap(([title, value]) => (value === null || value === undefined ? [] : [{ title, value }]));
  const after = [
    ...(tolerances === undefined ? [] : [{ title: "Tolerated", value: tolerancesText(tolerances) }]),
    { title: "Version of the program", value: header.program },
  ];
  const fact = ({ title, value }: { title: string; value: string | number }): Markup =>
    markup`<dt>${title}</dt><dd>${cellText(String(value))}</dd>
`;
  const signed = auditHead?.checkpoint;
  return [...known.map(fact), ...(signed === undefined ? [] : [signedHead(signed)]), ...after.map(fact)];
}

/** Keeps line starts, so that tools find the signed head in the page itself. */
function signedHead(checkpoint: string): Markup {
  const lines = checkpoint.replace(/\n$/u, "").split("\n").map(cellText);
  return markup`<dt class="whole">Audit head: signed</dt><dd class="whole"><pre>
${lines.join("\n")}
</pre></dd>
`;
}

function pageBegin({ shape, header }: OpenStatement, totals: StatementTotals, time: LocalTime): string {
  const style = pageStyle + shape.parts.filter(isBroken).map(brokenStyle).join("");
  const styleHash = hash("sha256", style, "base64");
  const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'`;
  const parts = shape.parts.map((part) => {
    const rows = totals.get(part.name)?.rows ?? 0;
    return markup`<li><a href="#${part.name}">${part.title}</a>: ${rowsText(rows)}</li>`;
  });
  const warning = markup`<p class="provisional">Provisional: the period was not over; figures may still change.</p>`;
  const begin = markup`<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${cellText(header.title)}</title>
`;
  const body = markup`</head>
<body>
<h1>${cellText(header.title)}</h1>
<p>${aboutMarkup(shape.about)}</p>
${header.provisional ? warning : ""}
<dl>
${factsOf(header, time)}</dl>
<ul>${parts}</ul>
`;
  return `<!doctype html>\n${begin}<style>${style}</style>\n${body}`;
}

function rowsText(rows: number): string {
  return rows === 1 ? "1 row" : `${grouped(String(rows))} rows`;
}

function partSection(part: Part, totals: PartTotals, body: readonly Markup[]): string {
  return String(markup`<section id="${part.name}">
<h2>${part.title}</h2>
<p>${aboutMarkup(part.about)}</p>
<h3>Totals</h3>
${totalsTable(part, totals)}
${rowsTable(part, totals, body)}
</section>
`);
}

function totalsTable(part: Part, totals: PartTotals): Markup {
  const corner = part.columns.find(({ name }) => name === part.groupBy)?.title ?? "";
  const sums = ["Rows", ...totals.sums.map(({ column, currency }) => [column.title, currency ?? ""].join(" ").trim())];
  const groups = [
    ...totals.groups.map((one) => ({ name: groupText(one.value), style: "group", cells: cellsOf(one, totals.sums) })),
    { name: "All", style: "whole", cells: cellsOf(totals, totals.sums) },
  ];
  const turned = sums.length > mostAcross && groups.length <= mostAcross;
  const heads = turned ? groups.map(({ name }) => name) : sums;
  const lines = turned
    ? sums.map((name, at) => ({ name, style: "group", cells: groups.map(({ cells }) => cells[at] ?? "") }))
    : groups;
  const rows = lines.map(({ name, style, cells }) => {
    const values = cells.map((cell) => markup`<td class="number">${cell}</td>`);
    return markup`<tr class="${style}"><th scope="row">${name}</th>${values}</tr>
`;
  });
  const columns = heads.map((head) => markup`<th scope="col" class="number">${head}</th>`);
  return markup`<div class="scroll"><table class="totals">
<thead><tr><th scope="col">${corner}</th>${columns}</tr></thead>
<tbody>
${rows}</tbody>
</table></div>`;
}

function cellsOf(one: Totals, sums: readonly Sum[]): string[] {
  return [grouped(String(one.rows)), ...sums.map((wanted) => amountOf(one, wanted))];
}

function groupText(value: string | null): string {
  return value === null ? "(empty)" : pageText(value);
}

function amountOf({ sums }: Totals, { column, currency }: Sum): string {
  const found = sums.find((sum) => sum.column === column && sum.currency === currency);
  return found === undefined ? "" : grouped(sumText(found));
}

function rowsTable(part: Part, totals: PartTotals, body: readonly Markup[]): Markup {
  if (totals.rows === 0) return markup`<p>There are no rows.</p>`;
  const heads = part.columns.map((column) => markup`<th scope="col" class="${classOf(column)}">${column.title}</th>`);
  const more = `These are the first ${grouped(String(body.length))} of ${rowsText(totals.rows)}; `;
  const wide = isBroken(part) ? "rows broken" : part.columns.length >= wideFrom ? "rows wide" : "rows";
  return markup`<h3>Rows</h3>
${totals.rows > body.length ? markup`<p>${more}the statement as CSV or JSON has all of them.</p>` : ""}
<div class="scroll"><table class="${wide}">
<thead><tr>${heads}</tr></thead>
<tbody>
${body}</tbody>
</table></div>`;
}

function pageText(text: string): string {
  if (text.length <= mostCharacters) return cellText(text);
  const more = grouped(String(text.length - mostCharacters));
  return `${cellText(text.slice(0, mostCharacters))}… (${more} more characters)`;
}

type Markup = Exclude<ReturnType<typeof html>, Promise<unknown>>;

/** Escapes texts, but not markup or lists of markup. */
function markup(strings: TemplateStringsArray, ...values: (string | number | Markup | readonly Markup[])[]): Markup {
  const made = html(strings, ...values);
  if (made instanceof Promise) throw new TypeError("a template of a statement waits for nothing");
  return made;
}

function grouped(digits: string): string {
  const [whole = "", ...fraction] = digits.split(".");
  return [whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ","), ...fraction].join(".");
}

/** Sets text between backticks as code. */
function aboutMarkup(text: string): Markup[] {
  return text.split("`").map((one, index) => (index % 2 === 0 ? markup`${one}` : markup`<code>${one}</code>`));
}

function isBroken({ columns }: Part): boolean {
  return columns.length >= brokenFrom;
}

/** On paper each row of such a part takes several lines, with a heading before each value. */
function brokenStyle(part: Part): string {
  const heads = part.columns.map(({ title }, index) => {
    const escape = (found: string): string => `\\${(found.codePointAt(0) ?? 0).toString(16)} `;
    const text = title.replaceAll(/[^\p{L}\p{N} ,.:()-]/gu, escape);
    return `  #${part.name} .broken td:nth-child(${index + 1})::before { content: "${text} "; }\n`;
  });
  return `@media print {\n${heads.join("")}}\n`;
}

function classOf({ type }: Column): string {
  if (type === "integer" || type === "money") return "number";
  return type === "date" || type === "instant" ? "time" : "text";
}

/** Such a long word may break anywhere, so that its column fits the page. */
const longWord = /[^\s-]{25}/u;

function rowMarkup(part: Part, row: Row, time: LocalTime): Markup {
  const cells = part.columns.map((column) => {
    const text = shownCell(row, column, time);
    return markup`<td class="${longWord.test(text) ? "long" : classOf(column)}">${text}</td>`;
  });
  return markup`<tr>${cells}</tr>
`;
}

function shownCell(row: Row, column: Column, time: LocalTime): string {
  const cell = cellOf(row, column);
  if (cell === null) return "";
  if (isList(cell)) return cell.map(pageText).join("; ");
  if (typeof cell === "boolean") return cell ? "yes" : "no";
  if (column.type === "money") return grouped(decimalText(minorOf(cell), currencyOf(row, column)));
  if (column.type === "integer") return grouped(String(cell));
  return column.type === "instant" ? time.shown(String(cell)) : pageText(String(cell));
}

const pageStyle = `
:root { color-scheme: light dark; --ink: #1b2330; --soft: #5a6677; --line: #d5dbe4; --head: #eef1f6; --paper: #fff;
  --warn: #8a4b00; --warn-paper: #fff4e0; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ef; --soft: #9aa6b8; --line: #364152; --head: #232c3a; --paper: #161c26;
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
  tr, dl { break-inside: avoid; }
  h1, h2, h3, p, thead { break-after: avoid; }
  section + section { break-before: page; }
}
`;
