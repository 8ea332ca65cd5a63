import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Column, Part, PartRow, StatementShape } from "../../../src/report/statement/shape.ts";
import { filesOf, hostileTexts, sampleHeader, textOf } from "./sample.ts";

/** Every tag that a page has, without its attributes. */
function tagsOf(page: string): Set<string> {
  return new Set([...page.matchAll(/<([a-z0-9]+)[\s>/]/g)].map(([, tag = ""]) => tag));
}

/** A part with more columns than a page has room for, with one amount at its right end. */
const wideShape: StatementShape = {
  kind: "wide",
  version: 1,
  title: "Wide",
  about: "A statement for tests.",
  parts: [
    {
      name: "wide",
      title: "Wide",
      about: "More columns than a page has room for.",
      columns: [
        ...Array.from({ length: 40 }, (_, index): Column => {
          return { name: `c${index}`, type: "text", title: `Head ${index} </style>"`, about: "A text." };
        }),
        { name: "currency", type: "text", title: "Currency", about: "Of the amount (ISO 4217)." },
        { name: "amount", type: "money", title: "Amount", about: "What it costs.", currencyIn: "currency" },
      ],
    },
  ],
};

describe("a statement as a page", async () => {
  const page = textOf(await filesOf("html"), "");

  it("runs nothing, loads nothing, and allows nothing but its own style", () => {
    const [, policy = ""] = /Content-Security-Policy" content="([^"]*)"/.exec(page) ?? [];
    const [, style = ""] = /<style>([^<]*)<\/style>/.exec(page) ?? [];
    const digest = createHash("sha256").update(style).digest("base64");
    expect(policy.replaceAll("&#39;", "'")).toBe(
      `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`,
    );
    expect(page).not.toMatch(/<[a-z][^>]*\s(?:style|on[a-z]+|src)=/);
    for (const tag of ["script", "link", "img", "iframe", "object", "form"]) expect(tagsOf(page)).not.toContain(tag);
    expect([...page.matchAll(/href="([^"]*)"/g)].map(([, to]) => to)).toEqual(["#orders", "#refunds", "#lines"]);
    expect(page).not.toMatch(/url\(|@import/);
  });

  it("shows what it was made from, the totals of each part, and its rows", () => {
    expect(page).toContain("<title>Sample of orders, October 2026</title>");
    expect(page).toContain("<dt>Audit tree: root</dt>");
    expect(page).not.toContain("Provisional:");
    const text = page.replaceAll("\n", "");
    expect(text).toContain(
      '<tr class="whole"><th scope="row">All</th><td class="number">28</td><td class="number">33</td>' +
        '<td class="number">1,005.92</td><td class="number">120,022</td><td class="number">1.005</td></tr>',
    );
    expect(text).toContain(
      '<tr><td class="text">10249</td><td class="text">different</td><td class="text"></td><td class="text"></td>' +
        '<td class="number">7</td><td class="text">yes</td><td class="time">2026-10-31</td>' +
        '<td class="time">2026-10-25 02:30:00.250</td><td class="text">EUR</td><td class="number">999.99</td></tr>',
    );
    for (const [currency, amount] of [
      ["JPY", "120,000"],
      ["KWD", "1.005"],
      ["EUR", "-0.01"],
    ])
      expect(text).toContain(`<td class="text">${currency}</td><td class="number">${amount}</td></tr>`);
    expect(text).toContain('<section id="refunds"><h2>Refunds</h2><p>What was given back.</p>');
    expect(text).toContain("<p>There are no rows.</p>");
  });

  it("shows hostile texts as texts", () => {
    expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;&lt;img src=x onerror=alert(1)&gt;");
    expect(page).toContain("left\\u202eright\\u202c \\u2066isolate\\u2069");
    expect(page.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Surrogate}\uffff]/u);
    const verdict = '"><svg onload=alert(1)>';
    const rows: PartRow[] = ["a", verdict].map((one) => ({ part: "orders", row: { order: one, verdict: one } }));
    return filesOf("html", { rows }).then((files) => {
      expect(textOf(files, "")).not.toContain("<svg onload");
    });
  });

  it("shows the first rows of a long part and says which formats have all", async () => {
    const rows = Array.from({ length: 5431 }, (_, index): PartRow => {
      return { part: "lines", row: { order: `o${index}`, currency: "EUR", amount: 1 } };
    });
    const long = textOf(await filesOf("html", { rows }), "");
    expect(long).toContain("These are the first 2,000 of 5,431 rows; the statement as CSV or JSON has");
    expect([...long.matchAll(/<td class="text">o\d/g)]).toHaveLength(2000);
    expect(long).toContain('<td class="number">54.31</td>');
  });

  it("cuts a text that no reader gets through, and says how long it was", async () => {
    const long = "\u202e" + "x".repeat(1_000_000);
    const rows: PartRow[] = [{ part: "orders", row: { order: "1", verdict: long, products: [long], note: long } }];
    const text = textOf(await filesOf("html", { rows }), "");
    expect(text.length).toBeLessThan(60_000);
    expect(text).toContain('<td class="long">\\u202exxx');
    expect(text).toContain("xxx… (996,001 more characters)</td>");
  });

  it("puts totals one below the other where paper has no room for them side by side", async () => {
    const columns = Array.from({ length: 12 }, (_, index): Column => {
      return { name: `n${index}`, type: "integer", title: `Count ${index}`, about: "A number.", total: true };
    });
    const verdict: Column = { name: "verdict", type: "text", title: "Verdict", about: "A text." };
    const part: Part = {
      name: "many",
      title: "Many",
      about: "Sums.",
      groupBy: "verdict",
      columns: [verdict, ...columns],
    };
    const rows = ["agrees", "differs"].map((one, index): PartRow => {
      return { part: "many", row: { verdict: one, n11: 1200 + index } };
    });
    const shape: StatementShape = { ...wideShape, parts: [part] };
    const text = textOf(await filesOf("html", { shape, rows }), "").replaceAll("\n", "");
    expect(text).toContain(
      '<thead><tr><th scope="col">Verdict</th><th scope="col" class="number">agrees</th>' +
        '<th scope="col" class="number">differs</th><th scope="col" class="number">All</th></tr></thead>',
    );
    expect(text).toContain(
      '<th scope="row">Count 11</th><td class="number">1,200</td><td class="number">1,201</td>' +
        '<td class="number">2,401</td></tr>',
    );
  });

  it("sets names between backticks as such", async () => {
    const [part] = wideShape.parts;
    const shape: StatementShape = {
      ...wideShape,
      about: "`a<b` counts.",
      parts: [{ ...part, about: "By `verdict`." }],
    };
    const text = textOf(await filesOf("html", { shape, rows: [] }), "");
    expect(text).toContain("<p><code>a&lt;b</code> counts.</p>");
    expect(text).toContain("<p>By <code>verdict</code>.</p>");
  });

  it("says so when the period was not over", async () => {
    const header = { ...sampleHeader, provisional: true };
    expect(textOf(await filesOf("html", { header }), "")).toContain("Provisional: the period was not over");
  });

  it("has the same bytes when it is made again", async () => {
    expect(textOf(await filesOf("html"), "")).toBe(page);
  });
});

function has(program: string): boolean {
  try {
    execFileSync("which", [program], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const wideRows: PartRow[] = Array.from({ length: 50 }, (_, index): PartRow => {
  const texts = Array.from({ length: 40 }, (__, at) => [`c${at}`, at === 7 ? "" : `value-${index}-${at}`] as const);
  return { part: "wide", row: { ...Object.fromEntries(texts), currency: "EUR", amount: 100_000 + index } };
});

describe.skipIf(!has("chromium") || !has("pdftotext"))("Chromium, where it is installed,", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "page-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function printed(page: string): string[] {
    writeFileSync(join(folder, "page.html"), page);
    execFileSync(
      "chromium",
      [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        `--user-data-dir=${folder}/profile`,
        "--no-pdf-header-footer",
        `--print-to-pdf=${folder}/page.pdf`,
        `file://${folder}/page.html`,
      ],
      { stdio: "ignore", timeout: 60_000 },
    );
    return execFileSync("pdftotext", ["-layout", join(folder, "page.pdf"), "-"])
      .toString()
      .split("\f");
  }

  it("prints every value of a row that has more columns than a page has room for, each with its heading", async () => {
    const text = printed(textOf(await filesOf("html", { shape: wideShape, rows: wideRows }), "")).join("\n");
    const words = new Set(text.split(/\s+/));
    for (let index = 0; index < 50; index += 1) {
      const wanted = [
        `value-${index}-0`,
        `value-${index}-20`,
        `value-${index}-39`,
        `1,000.${String(index).padStart(2, "0")}`,
      ];
      expect(wanted.filter((word) => !words.has(word))).toEqual([]);
    }
    expect(text.match(/Amount\s+1,000\.\d\d/g)).toHaveLength(50);
    expect(text.match(/Head 39 <\/style>"/g)).toHaveLength(50);
    expect(text).not.toContain("Head 7 ");
  });

  it("prints it on A4 across, with the heading of a long table on each page", async () => {
    const rows = Array.from({ length: 120 }, (_, index): PartRow => {
      return {
        part: "orders",
        row: { order: `o${index}`, verdict: "matched", note: hostileTexts[index % 22] ?? null },
      };
    });
    const pages = printed(textOf(await filesOf("html", { rows }), ""));
    const ofRows = pages.filter((text) => /^\s*o\d+\s/m.test(text));
    expect(ofRows.length).toBeGreaterThan(2);
    for (const text of ofRows) expect(text).toMatch(/Order\s+Verdict\s+Products\s+Note\s+Seats/);
    expect(pages.join("\n")).toContain("<script>alert(1)</script>");
    const size = execFileSync("pdfinfo", [join(folder, "page.pdf")]).toString();
    expect(size).toMatch(/Page size:\s+84[12](?:\.\d+)? x 59[45]/);
  });
});
