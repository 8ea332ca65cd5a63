import { expect } from "vitest";

/** Markup, a turn of the line, a NUL, and more than a page shows. */
export const hostile = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>&amp;\u202Eevil\u0000${"x".repeat(100_000)}`;

/** The same as SQL, whose literals hold no NUL. */
export const hostileSql = `(${hostile
  .split("\0")
  .map((part) => `'${part.replaceAll("'", "''")}'`)
  .join(" || char(0) || ")})`;

/** Nothing of it is markup, turns a line, or is shown at its whole length. */
export function textOnly(page: string): void {
  expect(page).not.toMatch(/<script>|<img|\son[a-z]+=[^&]*alert\(2\)>/u);
  // eslint-disable-next-line no-control-regex
  expect(page).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u0000]/u);
  expect(page.length).toBeLessThan(400_000);
}
