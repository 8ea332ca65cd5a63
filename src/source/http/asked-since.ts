import { toInstant } from "../../base/clock.ts";
import { exitCodes, Problem } from "../../base/errors.ts";
import type { SinceSettings } from "./http-source-settings.ts";
import type { Placement } from "./placement.ts";

/** What asks for changes since an instant. Throws a Problem (usage) for a text that is no instant. */
export function askedSince(text: string, since: SinceSettings): Placement {
  let epochMs: number;
  try {
    epochMs = Temporal.Instant.from(text).epochMilliseconds;
  } catch {
    throw new Problem({
      code: "source.wrong-since",
      message: `${JSON.stringify(text)} is no instant.`,
      cure: "Give an ISO time with Z or an offset, such as 2026-11-20T08:00:00Z.",
      exitCode: exitCodes.usage,
    });
  }
  const value =
    since.format === "iso" ? toInstant(epochMs) : since.format === "epoch_ms" ? epochMs : Math.floor(epochMs / 1_000);
  return {
    in: since.in === "job" ? "body" : since.in,
    parameter: since.parameter,
    whole: true,
    value: since.template === "{since}" ? value : since.template.replaceAll("{since}", String(value)),
  };
}
