import { afterEach, describe, expect, it, vi } from "vitest";
import { statementFormats, type StatementFormat } from "../../../src/report/statement/render.ts";
import type { StatementHeader } from "../../../src/report/statement/shape.ts";
import { filesOf, sampleHeader, textOf } from "./sample.ts";

/** CSV holds rows alone. */
type SpeakingFormat = Exclude<StatementFormat, "csv">;
const speaking = statementFormats.filter((format) => format !== "csv");

/** What a file says of itself beside its rows, as readers see it. */
const said = async (format: SpeakingFormat, header: StatementHeader): Promise<string> =>
  textOf(await filesOf(format, { header }), "");

const provisionalIn: Record<SpeakingFormat, RegExp> = {
  json: /"provisional":true/u,
  html: /<dt>Provisional \(period not over\)<\/dt><dd>yes<\/dd>/u,
};

describe.each(statementFormats)("a statement as %s", (format) => {
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllEnvs();
  });

  it("has the same bytes on another day and in a process of another time zone", async () => {
    const madeOn = async (day: string, zone: string): Promise<Map<string, Buffer>> => {
      vi.stubEnv("TZ", zone);
      vi.useFakeTimers({ toFake: ["Date"], now: new Date(day) });
      const files = await filesOf(format);
      vi.useRealTimers();
      return files;
    };
    const first = await madeOn("2026-11-02T08:00:00Z", "UTC");
    expect(await madeOn("2027-12-31T23:59:58Z", "Pacific/Kiritimati")).toEqual(first);
  });
});

describe.each(speaking)("a statement as %s", (format) => {
  it("says that its period was not over where it was not, and only there", async () => {
    expect(await said(format, { ...sampleHeader, provisional: true })).toMatch(provisionalIn[format]);
    expect(await said(format, sampleHeader)).not.toMatch(provisionalIn[format]);
  });

  it("has nothing that acts unseen in what it says of itself", async () => {
    const turned = "a\u202eb\u0007c";
    const header = { ...sampleHeader, title: turned, filters: { customer: turned }, ledger: turned };
    const files = await filesOf(format, { header, rows: [{ part: "orders", row: { order: "1", verdict: turned } }] });
    const text = textOf(files, "");
    expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(text).toContain("a\\u202eb\\u0007c");
  });
});
