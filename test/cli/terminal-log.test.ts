import { expect, it } from "vitest";
import { createLogger } from "../../src/base/logger.ts";
import { terminalLog } from "../../src/cli/terminal-log.ts";

it("a log at a terminal is text with times in the configured zone, and nothing in it moves the cursor", () => {
  const lines: string[] = [];
  const logger = createLogger({
    level: "info",
    now: () => Date.parse("2026-03-29T01:30:00Z"),
    destination: terminalLog((text) => lines.push(text), "Europe/Berlin"),
  });
  logger.warn({ hold: "h-1", count: 7, customer: "crm/\u001b[2JC1" }, "held by a limit");
  logger.info({}, "stopping");
  logger.error({ token: "canary" }, "refused");
  expect(lines).toEqual([
    "2026-03-29 03:30:00 warn  held by a limit (hold h-1, count 7, customer crm/\\u{1b}[2JC1)",
    "2026-03-29 03:30:00 info  stopping",
    "2026-03-29 03:30:00 error refused (token [redacted])",
  ]);
});
