import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { nextForDeferral } from "../../src/report/next-steps.ts";
import { runsText } from "../../src/report/runs.ts";
import {
  renderTable,
  ageOf,
  explainCommand,
  instantText,
  printable,
  section,
  textOf,
  withInstantsToWrite,
  withLocalInstants,
  wrapped,
} from "../../src/report/text.ts";

describe("tables for people", () => {
  const columns = [{ title: "id" }, { title: "n", align: "right" as const }, { title: "why" }];
  const long = "a reason 中文 that goes on and on for quite a while, so that it has to be wrapped somewhere";

  it("only pads columns where there is no terminal, wide characters counted as two", () => {
    const lines = renderTable(columns, [
      ["中文", 3, "x"],
      ["abcd", 12, "y"],
    ]).split("\n");
    expect(lines).toEqual(["id     n  why", "中文   3  x", "abcd  12  y"]);
  });

  it("takes any number of rows, and of lines of a section", () => {
    const many = Array.from({ length: 200_000 }, () => ["id", 1, "x"]);
    expect(renderTable(columns, many, { zone: "UTC", terminal: true, width: 20 })).toContain("id");
    expect(
      textOf([
        "a",
        section(
          "b",
          many.map(() => "c"),
        ),
      ]),
    ).toMatch(/^a\n\nb\n {2}c\n/u);
  });

  it("boxes and wraps to the width of a terminal", () => {
    const lines = renderTable(columns, [["a", 1, long]], { zone: "UTC", terminal: true, width: 50 }).split("\n");
    expect(new Set(lines.map(stringWidth))).toEqual(new Set([50]));
    expect(lines.length).toBeGreaterThan(5);
    expect(lines[0]).toMatch(/^┌─+┬/);
    const emoji = renderTable(columns, [["✅✅✅✅✅✅", 1, long]], { zone: "UTC", terminal: true, width: 50 });
    expect(emoji).toContain("✅✅✅✅✅✅");
    expect(new Set(emoji.split("\n").map((part) => stringWidth(part)))).toEqual(new Set([50]));
  });

  it("fits a terminal where more than one column is long, and loses no letter of a long word or an indented line", () => {
    const cells = [`${"wide ".repeat(20)}end`, `find${"ings".repeat(20)}`, `    indented: ${"x".repeat(30)}last`];
    for (const width of [80, 140]) {
      const lines = renderTable(columns, [cells], { zone: "UTC", terminal: true, width }).split("\n");
      expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(width);
      const shown = [0, 1, 2].map((at) =>
        lines
          .map((line) => line.split("│")[at + 1] ?? "")
          .join(" ")
          .replaceAll(/\s/gu, ""),
      );
      for (const [at, cell] of cells.entries()) expect(shown[at]).toContain(cell.replaceAll(/\s/gu, ""));
      expect(lines.some((line) => /│ {5}indented:/u.test(line))).toBe(true);
    }
  });

  it("writes out what could disturb a terminal", () => {
    const text = renderTable(columns, [["\u001b[2J\u202eevil", 1, "one\ntwo\u0000"]]);
    expect(text).toContain("\\u{1b}[2J\\u{202e}evil");
    expect(text).toContain("one⏎two\\u{0}");
    expect(text).not.toContain("\u001b");
    expect(printable("\ud83d\ude00 \ud83d x")).toBe("😀 \\u{d83d} x");
  });
});

describe("words for people", () => {
  it("have instants in a zone, whole ones where they are to be written, and leave what is none or is quoted", () => {
    const zone = "Asia/Kolkata";
    const text = 'at 2026-10-05T20:00:00.120Z, "2026-10-05T20:00:00.120Z", 2026-02-30T20:00:00Z, 2026-10-05T99:00:00Z';
    const rest = '"2026-10-05T20:00:00.120Z", 2026-02-30T20:00:00Z, 2026-10-05T99:00:00Z';
    expect(withLocalInstants(text, { zone })).toBe(`at 2026-10-06 01:30:00 +05:30, ${rest}`);
    expect(withInstantsToWrite(text, { zone })).toBe(`at 2026-10-06T01:30:00.12+05:30, ${rest}`);
  });

  it("leave an instant as it is in a path, a quoted command, another word or after an option", () => {
    const zone = "Europe/Berlin";
    const at = "2026-10-01T00:00:00Z";
    const kept = [`/tmp/${at}/x.csv`, `${at}/x.csv`, `C:\\${at}`, `${at}.csv`, `${at}-2`, `x-${at}`, `'${at}'`];
    kept.push(`crm/${at}`, `"of ${at} by hand"`, `\`mkdir -p '/tmp/of ${at} by hand'\``, `--since ${at}`, `a:${at}`);
    for (const text of kept) {
      expect.soft(withLocalInstants(`it is ${text}, and`, { zone })).toBe(`it is ${text}, and`);
      expect.soft(withInstantsToWrite(`it is ${text}, and`, { zone })).toBe(`it is ${text}, and`);
    }
    const local = "2026-10-01 02:00:00 +02:00";
    for (const [before, after] of [
      ["", ""],
      ["from ", " on"],
      ["(", ")"],
      ["at ", ", after"],
      ["at ", ": a"],
      ["at ", "."],
    ])
      expect.soft(withLocalInstants(`${before}${at}${after}`, { zone })).toBe(`${before}${local}${after}`);
    expect(withInstantsToWrite(`from ${at} on`, { zone: "UTC" })).toBe(`from ${at} on`);
  });

  it("breaks long lines on a terminal and nowhere else", () => {
    const line = `  ${"word ".repeat(20).trim()}`;
    expect(wrapped([line], { zone: "UTC", terminal: false })).toEqual([line]);
    const broken = wrapped([line], { zone: "UTC", terminal: true, width: 60 });
    expect(broken.every((part) => stringWidth(part) <= 60)).toBe(true);
    expect(broken[1]).toMatch(/^ {4}word/);
    expect(broken.join(" ").replaceAll(/\s+/g, " ")).toBe(line.replaceAll(/\s+/g, " "));
    const wide = wrapped([`  ${"株式会社ノースウィンド ".repeat(5).trim()}`], {
      zone: "UTC",
      terminal: true,
      width: 60,
    });
    expect(wide.map((part) => stringWidth(part))).toEqual([47, 49, 26]);
  });

  it("shows times in the zone of the configuration, with the offset of that day", () => {
    const berlin = { zone: "Europe/Berlin" };
    expect(instantText("2026-03-29T00:59:59.000Z", berlin)).toBe("2026-03-29 01:59:59 +01:00");
    expect(instantText("2026-03-29T01:00:00.000Z", berlin)).toBe("2026-03-29 03:00:00 +02:00");
    expect(instantText("2026-03-29T01:00:00.000Z", { zone: "UTC" })).toBe("2026-03-29 01:00:00 UTC");
    expect(instantText("yesterday\u001b[2J", berlin)).toBe("yesterday\\u{1b}[2J");
    const run = { id: "run_1", job: "staff", kind: "sync", trigger: "hand", state: "done" as const, scope: null };
    const times = { startedAt: "2026-10-01T05:00:00.000Z", finishedAt: "2026-10-01T05:01:00.000Z" };
    const facts = { ...run, ...times, exitCode: 0, balance: null, summary: null, header: {} };
    expect(runsText([facts], { terminal: false, ...berlin })).toContain("2026-10-01 07:00:00 +02:00");
  });

  it("quotes an id that a shell would read as something else", () => {
    expect(explainCommand("orders", { namespace: "crm", id: "10248" })).toBe("crm-sync explain order crm/10248");
    expect(explainCommand("orders", { namespace: "crm", id: "a b'$(x)" })).toBe(
      "crm-sync explain order 'crm/a b'\\''$(x)'",
    );
  });

  it("has a next step for every deferral, known or not", () => {
    expect(nextForDeferral("order.orphan-instance")).toContain("correct the order's lines");
    expect(nextForDeferral("something.new")).toBe("solve the problem in the reason; the next run tries again");
  });

  it("never gives a negative age", () => {
    expect(ageOf("2026-10-01T00:00:00.000Z", "2026-10-03T01:00:00.000Z")).toBe("2d");
    expect(ageOf("2026-10-01T00:10:00.000Z", "2026-10-01T00:00:00.000Z")).toBe("0s");
  });
});
