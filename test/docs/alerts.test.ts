import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { alertKinds, severities, severityOf } from "../../src/operate/notify/alert.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/reference/alerts.md"), "utf8");
it("its table has every kind with its severity", () => {
  for (const severity of severities) {
    const [, listed = ""] = new RegExp(`^\\| ${severity} \\| (.+) \\|$`, "mu").exec(page) ?? [];
    const kinds = alertKinds.filter((kind) => severityOf(kind) === severity);
    expect([...listed.matchAll(/`([^`]+)`/gu)].map(([, kind]) => kind)).toEqual(kinds);
  }
});
