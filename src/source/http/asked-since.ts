import { exitCodes, Problem } from "../../base/errors.ts";
import type { SinceSettings } from "./http-source-settings.ts";
import type { Placement } from "./placement.ts";
import { writeTime } from "./time-format.ts";

/** What asks for changes since an instant. Throws a Problem (usage) for a text that is no instant. */
export function askedSince(text: string, since: SinceSettings): Placement[] {
  let epochMs: number;
  try {
    epochMs = Temporal.Instant.from(text).epochMilliseconds;
  } catch {
    throw new Problem({
      code: "source.wrong-since",
      message: `${JSON.stringify(text)} is not a point in time.`,
      cure: "Write a date and time with Z or an offset, such as 2026-11-20T08:00:00Z.",
      exitCode: exitCodes.usage,
    });
  }
  const time = writeTime(epochMs, since);
  const value = since.template === "{since}" ? time : since.template.replaceAll("{since}", String(time));
  return [since.parameter].flat().map((parameter) => ({ in: since.in, parameter, whole: true, value }));
}
