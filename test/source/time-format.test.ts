import { describe, expect, it } from "vitest";
import { readTime, timeFormatFault, writeTime } from "../../src/source/http/time-format.ts";
import { sourceSettingsSchema } from "../../src/source/source-settings.ts";
import { systemClock } from "../../src/base/clock.ts";
import { startService } from "./http-service.ts";
import { customerMapping, openSource, readAll } from "./support.ts";

const at = (text: string): number => Temporal.Instant.from(text).epochMilliseconds;

describe("a service that writes times in its own way", () => {
  it("is asked for changes as it writes them, at every place of the question, and its records tell where to go on", async () => {
    const rows = [
      { id: 1, name: "A", at: "2026-11-20 09:00:00.250000" },
      { id: 2, name: "B", at: "2026-11-20 08:30:00" },
    ];
    const { origin, asked } = await startService(() => ({
      body: { rows },
      headers: { date: "Fri, 20 Nov 2026 12:00:00 GMT" },
    }));
    const customers = {
      url: "rows",
      method: "POST",
      body: { or: [{ made: "" }, { changed: "" }] },
      records: "rows",
      mapping: customerMapping,
      since: {
        in: "body",
        parameter: ["or[0].made", "or[1].changed"],
        format: "yyyy-MM-dd HH:mm:ss",
        zone: "Europe/Berlin",
        changedAt: "at",
        changedFormat: "yyyy-MM-dd HH:mm:ss.SSSSSS",
        overlapMs: 60_000,
      },
    };
    const source = openSource({ kind: "http", baseUrl: origin, streams: { customers } }, ".", {
      clock: { ...systemClock, monotonic: () => 0 },
    });
    const first = await readAll(source, "customers");
    expect(first.outcome).toMatchObject({ complete: true, full: true, cursor: "2026-11-20T07:59:00.250Z" });
    const second = await readAll(source, "customers", { since: first.outcome.cursor ?? "" });
    expect(second.outcome).toMatchObject({ complete: true, full: false });
    expect(asked.map(({ body }) => JSON.parse(body))).toEqual([
      { or: [{ made: "" }, { changed: "" }] },
      { or: [{ made: "2026-11-20 08:59:00" }, { changed: "2026-11-20 08:59:00" }] },
    ]);
  });

  it("is asked from the time that its clocks are set back to, where they are set back after the time meant", () => {
    const local = { format: "yyyy-MM-dd HH:mm", zone: "Europe/Berlin" };
    const written = ["2026-10-24T22:30:00Z", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"].map((text) =>
      writeTime(at(text), local),
    );
    expect(written).toEqual(["2026-10-25 00:30", "2026-10-25 02:00", "2026-10-25 02:30"]);
    expect(readTime("2026-10-25 02:30", local)).toBe(at("2026-10-25T00:30:00Z"));
    expect(writeTime(at("2026-10-25T00:30:00Z"), { format: "yyyyMMdd'T'HHmmss.SSSXX", zone: "Europe/Berlin" })).toBe(
      "20261025T023000.000+0200",
    );
  });

  it("needs a zone where a time has no offset, and a pattern that can be written", () => {
    expect(timeFormatFault({ format: "yyyy-MM-dd" })).toMatchObject({ key: "zone" });
    expect(timeFormatFault({ format: "epoch" })).toMatchObject({ key: "format" });
    expect(timeFormatFault({ format: "EEE yyyy-MM-dd", zone: "UTC" })).toMatchObject({ key: "format" });
    const since = { parameter: "since", format: "dd.MM.yyyy", changedFormat: "?" };
    const streams = { customers: { url: "rows", mapping: customerMapping, since } };
    const parsed = sourceSettingsSchema.safeParse({ kind: "http", baseUrl: "https://crm.example.com", streams });
    expect(parsed.error?.issues.map(({ path }) => path.join("."))).toEqual([
      "streams.customers.since.zone",
      "streams.customers.since.changedFormat",
    ]);
  });
});
