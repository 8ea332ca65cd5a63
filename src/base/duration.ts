import { z } from "zod";

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `30s`, `90m`, `24h`, `2d`. */
export const durationSchema = z
  .string()
  .regex(/^\d{1,6}(?:ms|s|m|h|d)$/u, "expected a length of time such as 90m, 24h or 2d");

export function durationMs(text: string): number {
  const [, number, unit] = /^(\d+)([a-z]+)$/u.exec(text) ?? [];
  return Number(number) * (units[unit ?? ""] ?? Number.NaN);
}
